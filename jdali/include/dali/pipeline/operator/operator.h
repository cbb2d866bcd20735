#error "jdali has no operators in C++: write them in Python with jdali.plugin.operators, or call compiled code from fn.python_function"
