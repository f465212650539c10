//! What the macro writes from the contract.

wit_bindgen::generate!({ path: "../../wit", world: "guard", features: ["preview"] });
