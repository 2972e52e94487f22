//! Compiles prints.v2.yaml into the program.

fn main() -> Result<(), orbgate_build::BuildError> {
    orbgate_build::compile("prints.v2.yaml")
}
