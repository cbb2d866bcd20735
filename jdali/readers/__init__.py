from jdali.readers import file as file
