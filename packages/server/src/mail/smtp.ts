import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from '../config/readers.ts';
import { type MailText, toHtml, toPlainText } from './mail-text.ts';

/* This module loads Nodemailer. Import it dynamically, so that a server that sends no mail doesn't load it. */

/** How long connecting may take, and each response of the server, in milliseconds. */
const responseTimeoutMs = 30_000;

/** How long sending one mail may take, in milliseconds. */
export const sendTimeoutMs = 90_000;

const maxErrorLength = 300;

/** A mail that the server did not accept. */
export class MailError extends Error {
  override readonly name = 'MailError';
  /** Whether another attempt would fail too. */
  readonly isPermanent: boolean;
  /** Whether the connection can't send other mails. */
  readonly endsSession: boolean;

  constructor(message: string, { isPermanent, endsSession }: { isPermanent: boolean; endsSession: boolean }) {
    super(message);
    this.isPermanent = isPermanent;
    this.endsSession = endsSession;
  }
}

export interface OutgoingMail extends MailText {
  /** The same for each attempt, so that mail programs can show a mail once that arrives twice. */
  readonly messageId: string;
  readonly to: string;
}

/** A connection to the mail server. */
export interface SmtpSession {
  /** @throws MailError */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

/**
 * Connects to the mail server, and signs in.
 *
 * @throws MailError, never permanent
 */
export async function openSmtpSession(server: SmtpServer, timeoutMs = responseTimeoutMs): Promise<SmtpSession> {
  const connection = new SMTPConnection(connectionOptions(server, timeoutMs));
  const { user, password } = server;
  let broken: Error | undefined;
  const failed = new Promise<never>((_, reject) => {
    connection.on('error', (error: Error) => {
      broken = error;
      reject(error);
    });
    connection.once('end', () => {
      broken ??= new Error('The server closed the connection');
      reject(broken);
    });
  });
  failed.catch(() => {});
  try {
    const connected = new Promise<void>((resolve, reject) => {
      connection.connect((error?: Error | null) => (error ? reject(error) : resolve()));
    });
    await Promise.race([connected, failed]);
    if (user !== undefined) {
      const signedIn = new Promise<void>((resolve, reject) => {
        connection.login({ user, pass: password }, (error?: Error | null) => (error ? reject(error) : resolve()));
      });
      await Promise.race([signedIn, failed]);
    }
  } catch (error) {
    connection.close();
    throw new MailError(describe(error), { isPermanent: false, endsSession: true });
  }
  /** Forgets the mail that was refused, so that the next one can be sent. */
  const reset = async (): Promise<void> => {
    const done = new Promise<void>((resolve) => connection.reset(() => resolve()));
    await Promise.race([done, failed]).catch(() => {});
  };
  return {
    async send(mail) {
      if (broken !== undefined) throw new MailError(describe(broken), { isPermanent: false, endsSession: true });
      const message = await new MailComposer(toMessage(server, mail)).compile().build();
      const timer = setTimeout(() => {
        broken = new Error('The server took too long');
        connection.close();
      }, sendTimeoutMs);
      try {
        const sent = new Promise<void>((resolve, reject) => {
          const envelope = { from: server.from, to: [mail.to], size: message.length };
          connection.send(envelope, message, (error?: Error | null) => (error ? reject(error) : resolve()));
        });
        await Promise.race([sent, failed]);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal !== undefined) await reset();
        throw new MailError(describe(error), {
          isPermanent: refusal === 'permanent',
          endsSession: refusal === undefined || broken !== undefined,
        });
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      if (broken === undefined) connection.quit();
      else connection.close();
    },
  };
}

/**
 * Certificates are verified. With a password, TLS is required. The exception is a connection to this machine, which other machines can't
 * read: local relays often offer TLS with a certificate that can't be verified.
 */
export function connectionOptions(server: SmtpServer, timeoutMs: number): SMTPConnectionOptions {
  const { host, port, isSecure, user } = server;
  const isLocal = !isSecure && /^(localhost|127(\.\d+){3}|::1)$/i.test(host);
  return {
    host,
    port,
    secure: isSecure,
    requireTLS: !isSecure && !isLocal && user !== undefined,
    tls: { rejectUnauthorized: !isLocal },
    name: domainOf(server.from),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    allowInternalNetworkInterfaces: true,
  };
}

function toMessage({ from }: SmtpServer, mail: OutgoingMail) {
  const { unsubscribeUrl } = mail;
  return {
    from: { name: 'Tenon', address: from },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    messageId: `<${mail.messageId}@${domainOf(from)}>`,
    text: toPlainText(mail),
    html: toHtml(mail),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function domainOf(address: string): string {
  return new URL(`http://${address.split('@')[1]}`).hostname;
}

/**
 * How the server refused this mail: with a response to the sender, the recipient, or the message, for now (400 to 499) or for good (500 to
 * 599). `undefined` if the connection failed or the server closes it (421).
 */
function refusalOf(error: unknown): 'transient' | 'permanent' | undefined {
  const { code, responseCode = 0, command = '' } = error as { code?: string; responseCode?: number; command?: string };
  if (code === 'EENVELOPE' && command === 'API') return 'permanent';
  if (!/^(MAIL FROM|RCPT TO|DATA)$/.test(command) || responseCode === 421) return undefined;
  if (responseCode >= 500 && responseCode <= 599) return 'permanent';
  return responseCode >= 400 && responseCode <= 499 ? 'transient' : undefined;
}

function describe(error: unknown): string {
  const { message, originalCode } = error as { message: string; originalCode?: string };
  const text = originalCode === undefined || message.includes(originalCode) ? message : `${message} (${originalCode})`;
  return text.replace(/[\p{C}\s]+/gu, ' ').slice(0, maxErrorLength);
}
