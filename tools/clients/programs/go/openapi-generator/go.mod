module example.org/program

go 1.25.0
