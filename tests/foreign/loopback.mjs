// Keeps a server that listens on every interface on this machine: whatever address it asks for, it gets 127.0.0.1.
// Prints `listening PORT` once it does, so that port 0 can be used.
import net from "node:net";

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...given) {
  const callback = given.find((one) => typeof one === "function");
  const options = typeof given[0] === "object" && given[0] !== null ? given[0] : { port: Number(given[0] ?? 0) };
  this.once("listening", () => console.log(`listening ${this.address().port}`));
  return listen.call(this, { ...options, host: "127.0.0.1" }, callback);
};
