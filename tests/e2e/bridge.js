// Stands on loopback for the model's Unix socket, starts the client once it listens, and ends with the client's status.
const net = require('node:net');
const { spawn } = require('node:child_process');
const [socket, port, command, ...args] = process.argv.slice(2);
const server = net.createServer((client) => {
  const model = net.connect(socket);
  client.on('error', () => model.destroy());
  model.on('error', () => client.destroy());
  client.pipe(model).pipe(client);
});
server.listen(Number(port), '127.0.0.1', () => {
  spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    .on('error', (error) => { console.error(String(error)); process.exit(127); })
    .on('exit', (code, signal) => process.exit(signal ? 128 : code));
});
