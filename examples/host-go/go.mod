module tenon.example/host

go 1.19
