"""Steps without a pipeline: `call` runs one operator now, `graph` a traced function, `debug` a pipeline call by call."""
