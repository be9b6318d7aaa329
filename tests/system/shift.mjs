/**
 * Loaded before the server: the wall clock of that process can be set by whoever started it. Timers and the monotonic
 * clock go on as they were, as they do when somebody sets the clock of a machine.
 */
const realNow = Date.now;
let offsetMs = 0;

Date.now = () => realNow() + offsetMs;

process.on('message', (message) => {
  offsetMs = message.offsetMs;
  process.send({ offsetMs });
});
process.channel.unref();
