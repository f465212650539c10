// Call one tool with the TypeScript clients: the one of the era with sessions, and the newer one as it is and asked to
// negotiate. Prints one JSON object: client to result.
//
// Usage: typescript_call.mjs PACKAGES URL TOOL [ARGUMENTS]

import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, url, name, text = "{}"] = process.argv.slice(2);
// The packages live elsewhere than this script, so that they are looked up from there.
const require = createRequire(join(packages, "package.json"));
const older = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};
const newer = require("@modelcontextprotocol/client");

async function call({ Client, StreamableHTTPClientTransport }, options) {
  const client = new Client({ name: "typescript", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    // Some clients check results against the schemas of the list, once they have seen it.
    await client.listTools();
    return await client.callTool({ name, arguments: JSON.parse(text) });
  } finally {
    await client.close();
  }
}

const results = {
  "TypeScript, older": await call(older),
  "TypeScript, newer": await call(newer),
  "TypeScript, negotiating": await call(newer, { versionNegotiation: { mode: "auto" } }),
};
console.log(JSON.stringify(results));
process.exit(0);
