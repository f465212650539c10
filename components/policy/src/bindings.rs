//! What the macro writes from the contract.
#![expect(unsafe_code, missing_docs, reason = "written by the macro; the contract holds the documentation")]

wit_bindgen::generate!({ path: "../../wit", world: "guard", features: ["preview"] });
