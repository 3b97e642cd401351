// Receives the feed's events with a pusher-js that is there already, for a row of ci/measure/bench: node pusher-js.cjs PORT PUSHER-JS EVENTS
"use strict";

const [port, path, events] = process.argv.slice(2);
const found = require(path);
const Pusher = found.default ?? found.Pusher ?? found;

// It parses what an event carries whether one asks for that or not.
const pusher = new Pusher("local-key", {
  cluster: "none",
  wsHost: "127.0.0.1",
  wsPort: Number(port),
  forceTLS: false,
  enabledTransports: ["ws"],
});
const wanted = Number(events);
let count = 0;
let began;

function now() {
  const { user, system } = process.cpuUsage();
  return { time: performance.now() / 1e3, cpu: (user + system) / 1e6 };
}

pusher.connection.bind("error", (error) => {
  console.error(error);
  process.exit(1);
});
const channel = pusher.subscribe("bench");
channel.bind("begin", () => {
  began = now();
});
channel.bind("tick", (tick) => {
  if (tick.price < 100) throw new Error("a wrong price");
  if (++count < wanted) return;
  const ended = now();
  const result = { events: count, seconds: ended.time - began.time, cpu_seconds: ended.cpu - began.cpu };
  process.stdout.write(JSON.stringify(result) + "\n", () => process.exit(0));
});
