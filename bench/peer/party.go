package main

type party struct{}
