import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { createMailComposer } from '../../src/ops/mail/compose-mail.ts';
import { sendDueMails } from '../../src/ops/mail/send-mails.ts';
import type { TestService } from './service.ts';

/** A mail as it came in. */
export interface ReceivedMail extends ParsedMail {
  /** The address in SMTP's envelope. */
  readonly recipient: string;
  readonly raw: string;
  readonly session: SMTPServerSession;
}

/** What the server does to the next mail instead of taking it; `drop` takes it, and then breaks the connection. */
export type Fault = 'drop' | 'hang' | { readonly code: number; readonly at: 'MAIL' | 'RCPT' | 'DATA' };

export type TestMailServer = Awaited<ReturnType<typeof openMailServer>>;

/** A real SMTP server on a free port of this machine. */
export async function openMailServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  const faults: Fault[] = [];
  const refuse = (at: 'MAIL' | 'RCPT' | 'DATA'): Error | undefined => {
    const [next] = faults;
    if (typeof next !== 'object' || next.at !== at) return undefined;
    faults.shift();
    return Object.assign(new Error('Not this one'), { responseCode: next.code });
  };
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onMailFrom: (_, __, done) => done(refuse('MAIL')),
    onRcptTo: (_, __, done) => done(refuse('RCPT')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const refused = refuse('DATA');
        if (refused !== undefined) return done(refused);
        const fault = faults.shift();
        if (fault === 'hang') return undefined;
        const raw = Buffer.concat(chunks).toString();
        const recipient = session.envelope.rcptTo[0]?.address ?? '';
        mails.push({ ...(await simpleParser(raw)), recipient, raw, session });
        if (fault === 'drop') {
          for (const connection of server.connections) connection._socket.destroy();
          return undefined;
        }
        return done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    /** The settings' value for this server. */
    at: { ...noMailServer, port },
    mails,
    faults,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** The settings of a server that queues mails, of which none is sent. */
export const noMailServer = {
  host: 'localhost',
  port: 1,
  isSecure: false,
  user: undefined,
  password: undefined,
  from: 'tenon@example.com',
};

/** One run of the sender. */
export async function sendMails({ services }: TestService, { at }: Pick<TestMailServer, 'at'>) {
  const counts = { sent: 0, postponed: 0, failed: 0 };
  const { deps, addresses, log } = services;
  const compose = createMailComposer(deps, addresses);
  await sendDueMails({ deps, server: at, compose, log }, counts, new AbortController().signal);
  return counts;
}

/** The code of a link in a mail. */
export function codeIn({ text = '' }: ParsedMail): string {
  return /code=([\w-]{43})/.exec(text)?.[1] ?? '';
}
