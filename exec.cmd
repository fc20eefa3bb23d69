@rem `npm start` begins with `exec`: the server then takes the place of the shell, and gets the signals that npm hands on.
@rem Windows has no such command. This stands in for it.
@%*
