//! `orbgate token prove`: makes a DPoP proof for one request.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// File with the client's private key (P-256, PKCS #8 in PEM), or for a new one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    key: PathBuf,

    /// Print the key's thumbprint instead, to which a token is bound (`cnf.jkt`)
    #[arg(long, conflicts_with_all = ["method", "url", "token", "nonce"])]
    thumbprint: bool,

    /// Method of the request [default: GET]
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// URL of the request, as the client calls it
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// File that contains the token; `-` is standard input. Without it, the proof is for a token endpoint
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    token: Option<PathBuf>,

    /// The server's nonce, from the header `DPoP-Nonce` of an earlier response
    #[arg(long, value_name = "TEXT")]
    nonce: Option<String>,
}

/// Makes a proof, and a key if the file doesn't exist.
#[cfg(feature = "token")]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    use std::time::SystemTime;

    use crate::output;
    use crate::token::explain::{path_of_token, read};

    let Arguments { key, thumbprint, method, url, token, nonce } = arguments;
    let holder = key::holder(key)?;
    if *thumbprint {
        output::print(|out| writeln!(out, "{}", holder.thumbprint()))?;
        return Ok(Exit::Fine);
    }
    let Some(url) = url else {
        return Err(Stop::Error("--url is missing: write the URL of the request, as the client calls it".to_owned()));
    };
    let token = match token {
        Some(path) => Some(String::from_utf8_lossy(&read(path_of_token(path)?)?).trim().to_owned()),
        None => None,
    };
    let token = token.as_deref().map(|token| token.strip_prefix("DPoP ").unwrap_or(token));
    let method = method.as_deref().unwrap_or("GET");
    let proof = holder.proof(method, url, token, nonce.as_deref(), SystemTime::now());
    let proof = proof.map_err(|error| Stop::Error(error.to_string()))?;
    output::print(|out| writeln!(out, "{proof}"))?;
    Ok(Exit::Fine)
}

/// Explains how to get a command that makes proofs.
#[cfg(not(feature = "token"))]
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let Arguments { key: _, thumbprint: _, method: _, url: _, token: _, nonce: _ } = arguments;
    Err(crate::token::without::signatures("proofs"))
}

#[cfg(feature = "token")]
mod key {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Write as _};
    use std::path::Path;

    use orbgate_token::TestHolder;

    use crate::output::Stop;
    use crate::token::explain::read;

    /// The client with the key of a file. A new key is written to a file that doesn't exist, which only its owner can read.
    pub(super) fn holder(path: &Path) -> Result<TestHolder, Stop> {
        let wrong = |error: &dyn core::fmt::Display| Stop::Error(format!("`{}`: {error}", path.display()));
        match create(path) {
            Ok(mut file) => {
                let holder = TestHolder::new().map_err(|error| wrong(&error))?;
                let text = holder.to_pem().map_err(|error| wrong(&error))?;
                file.write_all(text.as_bytes()).map_err(|error| wrong(&error))?;
                Ok(holder)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let text = read(path)?;
                TestHolder::from_pem(&String::from_utf8_lossy(&text)).map_err(|error| wrong(&error))
            }
            Err(error) => Err(wrong(&error)),
        }
    }

    fn create(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }
}

const HELP: &str = "\
For tests and for trying an API. A proof is for one request: a gate accepts it
once, and for a minute. The private key never leaves the file.

Examples:
  orbgate token prove --key holder.pem --thumbprint
  URL=http://127.0.0.1:8000/orbs
  JKT=$(orbgate token prove --key holder.pem --thumbprint)
  curl -s \"127.0.0.1:9000/token?scope=read:orbs&jkt=$JKT\" > token.txt
  PROOF=$(orbgate token prove --key holder.pem --url $URL --token token.txt)
  curl -H \"Authorization: DPoP $(cat token.txt)\" -H \"DPoP: $PROOF\" $URL

Exit codes:
  0  the proof or the thumbprint is printed
  2  could not run: a file that can't be read or written, or that is no key";
