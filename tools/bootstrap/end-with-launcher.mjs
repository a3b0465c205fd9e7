// Loaded into an application with `node --import`: it stops when the launcher is gone, even if the launcher was killed
// with SIGKILL. SIGHUP, because a repeated SIGTERM would end a graceful stop that has begun.

process.on('disconnect', () => process.kill(process.pid, 'SIGHUP'));
// The listener would otherwise keep the process alive. Worker threads load this file, too, and have no channel.
process.channel?.unref();
