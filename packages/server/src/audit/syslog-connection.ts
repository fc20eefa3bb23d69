import { createSocket } from 'node:dgram';
import { connect as connectTcp, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SyslogServer } from '../config/readers.ts';
import { frame } from './syslog-message.ts';

/** How long to wait for a connection, and for the server to take a batch, in milliseconds. */
const timeoutMs = 10_000;

export interface SyslogConnection {
  /** Resolves when the operating system took the messages. Rejects if the connection is lost. */
  send(messages: readonly string[]): Promise<void>;
  isOpen(): boolean;
  close(): void;
}

/** Connects to a syslog server. Rejects if it can't be reached, or its certificate is not valid. */
export function openSyslog(server: SyslogServer): Promise<SyslogConnection> {
  return server.protocol === 'udp' ? openDatagrams(server) : openStream(server);
}

async function openStream({ protocol, host, port }: SyslogServer): Promise<SyslogConnection> {
  const isTls = protocol === 'tls';
  const socket: Socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  let failure: Error | undefined;
  socket.setKeepAlive(true, timeoutMs);
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.on('close', () => {
    failure ??= new Error('The syslog server closed the connection');
  });
  socket.on('end', () => socket.destroy());
  socket.resume(); // a syslog server sends nothing, but may close
  const settle = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      const onClose = (): void => finish(failure ?? new Error('The connection was closed'));
      const timer = setTimeout(() => socket.destroy(new Error('The syslog server does not respond')), timeoutMs);
      const finish = (error?: Error | null): void => {
        clearTimeout(timer);
        socket.off('close', onClose);
        if (error) reject(error);
        else resolve();
      };
      socket.once('close', onClose);
      start(finish);
    });
  await settle((done) => socket.once(isTls ? 'secureConnect' : 'connect', () => done()));
  return {
    async send(messages) {
      if (failure !== undefined) throw failure;
      await settle((done) => socket.write(messages.map(frame).join(''), done));
    },
    isOpen: () => failure === undefined && !socket.destroyed,
    close: () => socket.destroy(),
  };
}

async function openDatagrams({ host, port }: SyslogServer): Promise<SyslogConnection> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  let isOpen = true;
  socket.on('error', () => {
    isOpen = false;
  });
  socket.unref();
  return {
    async send(messages) {
      for (const message of messages) {
        await new Promise<void>((resolve, reject) => {
          socket.send(message, port, host, (error) => (error === null ? resolve() : reject(error)));
        });
      }
    },
    isOpen: () => isOpen,
    close: () => socket.close(),
  };
}
