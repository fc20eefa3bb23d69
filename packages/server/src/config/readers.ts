import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';

/** Parses a setting. Throws an error whose message completes "VARIABLE …" for invalid text. */
export type Reader<T> = (text: string) => T;

function expected(requirement: string, value: string): Error {
  return new Error(`${requirement}, not ${JSON.stringify(value)}`);
}

export const text: Reader<string> = (value) => value;

export const positiveInteger: Reader<number> = (value) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || !Number.isSafeInteger(number))
    throw expected('must be a whole number above 0', value);
  return number;
};

const maxWorkers = 256;

/** A number of processes; `auto` means one for each core. */
export const workerCount: Reader<number> = (value) => {
  const number = value === 'auto' ? Math.min(maxWorkers, availableParallelism()) : Number(value);
  if (!/^(auto|\d+)$/.test(value) || number < 1 || number > maxWorkers)
    throw expected(`must be a whole number from 1 to ${maxWorkers}, or auto`, value);
  return number;
};

export const port: Reader<number> = (value) => {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) throw expected('must be a port from 0 to 65535', value);
  return Number(value);
};

const unitBytes: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** A number of bytes, with an optional unit: `262144`, `256KiB`, `64 MiB`. */
export const byteSize: Reader<number> = (value) => {
  const match = /^(\d{1,12}) ?(KiB|MiB|GiB)?$/.exec(value);
  const bytes = match === null ? 0 : Number(match[1]) * (unitBytes[match[2] ?? ''] ?? 0);
  if (bytes < 1) throw expected('must be a number of bytes such as 262144, 256KiB or 64MiB', value);
  return bytes;
};

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `500ms`, `15s`, `10m`, `12h` or `90d`. Returns milliseconds. */
export const durationOrZero: Reader<number> = (value) => {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|[smhd])$/.exec(value) ?? [];
  if (number === undefined) throw expected('must be a time such as 15s, 12h or 90d', value);
  return Math.round(Number(number) * (unitMs[unit] ?? 0));
};

export const duration: Reader<number> = (value) => {
  const ms = durationOrZero(value);
  if (ms < 1) throw expected('must be at least 1ms', value);
  return ms;
};

export function choice<const T extends string>(...values: readonly T[]): Reader<T> {
  return (value) => {
    const found = values.find((one) => one === value);
    if (found === undefined) throw expected(`must be one of ${values.join(', ')}`, value);
    return found;
  };
}

/** An absolute `http:` or `https:` URL without query and fragment. Returns it without a trailing slash. */
export const httpUrl: Reader<string> = (value) => {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw expected('must be an http or https URL', value);
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new Error('must be a URL without credentials, query and fragment');
  }
  return url.href.replace(/\/+$/, '');
};

/** The URL of an issuer, which is compared as text. */
export const issuerUrl: Reader<string> = (value) => {
  httpUrl(value);
  return value;
};

/** The origin of an http or https URL, without a path. */
export const origin: Reader<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw expected('must be an origin, such as http://hooks.internal:8080', value);
  }
  return url.origin;
};

/** A connection URI of PostgreSQL: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS */
export const databaseUrl: Reader<string> = (value) => {
  // The error doesn't quote the URL, which may contain a password.
  if (!/^postgres(?:ql)?:\/\/./.test(value)) throw new Error('must be a URL that begins with postgresql://');
  return value;
};

export const yesOrNo: Reader<boolean> = (value) => {
  if (value !== 'true' && value !== 'false') throw expected('must be true or false', value);
  return value === 'true';
};

/** An IP address, or a range in CIDR notation. */
export const trustedAddress: Reader<string> = (value) => {
  const [address = '', prefix, ...rest] = value.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isRange = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (isIP(address) === 0 || !isRange || rest.length > 0)
    throw expected('must hold IP addresses and CIDR ranges', value);
  return value;
};

/** The name of a header field (RFC 9110 §5.1). Returns it in lower case. */
export const fieldName: Reader<string> = (value) => {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(value)) throw expected('must be the name of a header field', value);
  return value.toLowerCase();
};

export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(item);
}

/** Parses a list such as `name=value,name=value`. Values may contain `=`. */
export function pairsOf(value: string): readonly (readonly [name: string, value: string])[] {
  return list(text)(value).map((pair) => {
    const [name = '', ...rest] = pair.split('=');
    return [name.trim(), rest.join('=').trim()];
  });
}

// Readers of OpenTelemetry variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/.
// Their errors don't quote values that may be secrets.

export const anyCaseBoolean: Reader<boolean> = (value) => yesOrNo(value.toLowerCase());

export const ratio: Reader<number> = (value) => {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number > 1) throw expected('must be a number from 0 to 1', value);
  return number;
};

/** An absolute `http:` or `https:` URL. Returns it unchanged, with path and query. */
export const collectorUrl: Reader<string> = (value) => {
  const url = URL.parse(value);
  const isUsable = url !== null && /^https?:$/.test(url.protocol);
  if (!isUsable || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Error('must be an http or https URL without user name, password and fragment');
  }
  return value;
};

/**
 * Pairs in the syntax of W3C baggage: https://www.w3.org/TR/baggage/#header-content
 *
 * @returns the values, percent-decoded, by name
 */
export const keyValues: Reader<Readonly<Record<string, string>>> = (value) => {
  return Object.freeze(Object.fromEntries(list(readPair)(value)));
};

function readPair(pair: string): [string, string] {
  const [, name = '', encoded = ''] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? [];
  if (name === '') throw new Error('must be pairs of name=value, separated by commas');
  try {
    return [decodeURIComponent(name), decodeURIComponent(encoded)];
  } catch {
    throw new Error('has invalid percent-encoding');
  }
}

export const headerFields: Reader<Readonly<Record<string, string>>> = (value) => {
  const fields = keyValues(value);
  for (const [name, content] of Object.entries(fields)) {
    try {
      new Headers([[name, content]]);
    } catch {
      throw new Error('must be names and values of header fields as HTTP has them');
    }
  }
  return fields;
};

/** A server that receives syslog messages. */
export interface SyslogServer {
  readonly protocol: 'tls' | 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
}

const syslogPorts = { tls: 6514, tcp: 601, udp: 514 } as const;

/** `tls://host:port`, `tcp://host:port`, or `udp://host:port`. */
export const syslogUrl: Reader<SyslogServer> = (value) => {
  const [, protocol, host = '', port] =
    /^(tls|tcp|udp):\/\/(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(value) ?? [];
  if (protocol === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535)
    throw expected('must be a URL such as tls://logs.example.com:6514, tcp://…, or udp://…', value);
  const known = protocol.toLowerCase() as keyof typeof syslogPorts;
  return Object.freeze({
    protocol: known,
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? syslogPorts[known] : Number(port),
  });
};

/** A mail server that accepts mails over SMTP, and the sender's address. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether the connection begins with TLS (`smtps:`). Otherwise it begins without, and changes to TLS where the server offers it. */
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
}

/** `smtp://user:password@host:port?from=address`. No error quotes the URL, which may contain a password. */
export const smtpUrl: Reader<SmtpServer> = (value) => {
  const url = URL.parse(value);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('must be a URL that begins with smtp:// or smtps://');
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'from');
  if (unknown !== undefined || !/^\/?$/.test(url.pathname) || url.hash !== '')
    throw new Error('must have no path, and no query but ?from=');
  const from = url.searchParams.get('from') ?? '';
  if (!isMailAddress(from))
    throw new Error('must end with the address that mails come from, as in ?from=tenon@example.com');
  const isSecure = url.protocol === 'smtps:';
  const part = (text: string): string | undefined => {
    try {
      return text === '' ? undefined : decodeURIComponent(text);
    } catch {
      throw new Error('has invalid percent-encoding');
    }
  };
  const [user, password] = [part(url.username), part(url.password)];
  if ((user === undefined) !== (password === undefined))
    throw new Error('must have both user and password, or neither');
  const port = url.port === '' ? (isSecure ? 465 : 587) : Number(url.port);
  return Object.freeze({ host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure, user, password, from });
};

/**
 * Whether mail can go to an address: without the characters that have a meaning in header fields and in SMTP. Quoted local parts, which are
 * legal and rare, are not accepted.
 */
export function isMailAddress(text: string): boolean {
  return (
    text.length <= 254 && /^[^\s@<>()[\]\\,;:"\p{C}]+@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}.-]*[\p{L}\p{N}])?$/u.test(text)
  );
}
