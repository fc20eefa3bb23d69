import process from 'node:process';
import { me as meSchema } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { createApi } from './api.ts';
import { assertToken, type Connection, findConnection } from './connection.ts';
import { credentialsPath, readCredentials } from './credentials-file.ts';
import { environmentVariables } from './environment.ts';
import { CliError } from './errors.ts';
import type { Io } from './io.ts';
import { locations } from './locations.ts';
import { readMetadata } from './login/oauth-client.ts';
import { findProject, type Project } from './project/project.ts';
import type { ConnectionOptions } from './server-choice.ts';
import { isPrivatePath } from './server-url.ts';
import { tokenHints } from './session.ts';
import { count, formatTime } from './text.ts';
import { dropBody, readAnswer, request, type Target } from './transport.ts';
import { version } from './version.ts';

/** The result of a check. */
interface Finding {
  readonly result: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** How to fix it. */
  readonly hint?: string | undefined;
  readonly error?: CliError;
}

export interface Check extends Finding {
  readonly name: string;
}

/** Runs a check, and keeps what it found. */
type RunCheck = (name: string, work: () => Finding | Promise<Finding>) => Promise<void>;

/** A larger difference of the clocks is a warning. */
const maxClockDifferenceMs = 60_000;

/** A login that ends sooner is a warning. */
const soonMs = 24 * 60 * 60 * 1000;

const health = Type.Object({ status: Type.Literal('ok') });
const readiness = Type.Object({ writes: Type.Boolean(), reason: Type.Optional(Type.String()) });
const openApi = Type.Object({
  info: Type.Object({ version: Type.String() }),
  paths: Type.Record(Type.String(), Type.Unknown()),
});

/**
 * Checks the installation, then the server that commands would use here, then the login there. Leaves out the checks that need
 * what an earlier check did not find.
 *
 * @param timeoutMs how long each request may wait without network activity
 */
export async function diagnose(
  io: Io,
  options: ConnectionOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const check: RunCheck = async (name, work) => {
    try {
      checks.push({ name, ...(await work()) });
    } catch (error) {
      if (!(error instanceof CliError) || signal.aborted) throw error;
      checks.push({ name, result: 'failed', detail: error.message, hint: error.hint, error });
    }
  };
  const connection = await diagnoseHere(io, options, check);
  if (connection === undefined) return checks;
  const { url, foundIn } = connection;
  const target: Target = { url, foundIn, fetch: io.fetch, timeoutMs, signal };
  await check('connection', () => checkConnection(io, target));
  if (checks.at(-1)?.result !== 'failed') await diagnoseServer(io, connection, target, check);
  return checks;
}

/** Checks what is on this machine. @returns the server that commands would use */
async function diagnoseHere(io: Io, options: ConnectionOptions, check: RunCheck): Promise<Connection | undefined> {
  let project: Project | undefined;
  let connection: Connection | undefined;
  await check('Node.js', () => ok(`${process.version}; tenon ${version} needs ${locations.neededNode}`));
  await check('environment', () => checkEnvironment(io));
  await check('logins', () => checkLogins(io));
  await check('tenon.toml', async () => {
    project = await findProject(io.workingFolder);
    return checkProject(project);
  });
  await check('server', () => {
    connection = findConnection(options, { ...io, warn() {}, projectServer: project?.settings.server });
    return checkChoice(connection);
  });
  return connection;
}

async function diagnoseServer(io: Io, connection: Connection, target: Target, check: RunCheck): Promise<void> {
  const api = createApi(target);
  let hasLogins = true;
  await check('clock', () => checkClock(io, target));
  await check('health', async () => {
    const { writes, reason } = await api.get('/readyz', readiness);
    if (writes) return ok('ready');
    return warning(`takes no changes: ${reason ?? 'no reason given'}`, 'Ask its operators: tenon status');
  });
  await check('version', async () => {
    const { info, paths } = await api.get('/openapi.json', openApi);
    hasLogins = Object.hasOwn(paths, '/api/v1/me');
    if (info.version === version) return ok(info.version);
    return warning(`${info.version}, and this is ${version}`, 'Some commands may fail. Use the version of the server.');
  });
  if (hasLogins) await check('public URL', () => checkPublicUrl(target));
  await check('login', async () => {
    if (!hasLogins) return ok('the server only instruments, and has no logins');
    const token = assertToken(connection);
    const session = createApi({ ...target, token, tokenHints: tokenHints(connection, io.clockMs()) });
    const me = await session.get('/api/v1/me', meSchema);
    return checkLogin(me, connection, io.clockMs());
  });
}

async function checkConnection({ nowMs }: Io, target: Target): Promise<Finding> {
  const startMs = nowMs();
  await readAnswer(await request(target, '/healthz', { method: 'GET' }), health);
  return ok(`answers in ${Math.round(nowMs() - startMs)} ms`);
}

async function checkClock({ clockMs }: Io, target: Target): Promise<Finding> {
  const answer = await request(target, '/healthz', { method: 'GET' });
  const nowMs = clockMs();
  await dropBody(answer);
  return compareClocks(answer.response.headers.get('date'), nowMs) ?? ok('the server sends no date');
}

/** Requests with a token work at any URL of a server, but logins work only at its public URL. */
async function checkPublicUrl(target: Target): Promise<Finding> {
  try {
    return ok((await readMetadata(target)).issuer);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'issuer_mismatch') throw error;
    return warning(error.message, `Logins fail at ${target.url}. ${error.hint}`);
  }
}

function ok(detail: string): Finding {
  return { result: 'ok', detail };
}

function warning(detail: string, hint: string): Finding {
  return { result: 'warning', detail, hint };
}

function checkEnvironment({ environment }: Io): Finding {
  const set = environmentVariables.map(([name]) => name).filter((name) => environment[name]);
  const shown = set.map((name) => (name === 'TENON_TOKEN' ? `${name} (hidden)` : `${name}=${environment[name]}`));
  return ok(shown.join(', ') || 'no variable of tenon is set');
}

function checkLogins(io: Io): Finding {
  const warnings: string[] = [];
  const { profiles, current } = readCredentials({ ...io, warn: (text) => warnings.push(text) });
  const detail = `${count(profiles.size, 'login')} in ${credentialsPath(io) ?? 'no folder'}`;
  if (warnings.length > 0) return warning(detail, warnings.join('\n'));
  return ok(current === undefined ? detail : `${detail}, current: ${current}`);
}

function checkProject(project: Project | undefined): Finding {
  if (project === undefined) return ok('none in this folder or above');
  return project.warnings.length === 0 ? ok(project.file) : warning(project.file, project.warnings.join('\n'));
}

function checkChoice({ url, foundIn, login, passedOver }: Connection): Finding {
  const source = foundIn === undefined ? '' : `, from ${foundIn}`;
  const detail = `${url}${source}${login === undefined ? '' : `, profile ${login.name}`}`;
  if (!isPrivatePath(url)) return warning(detail, 'The URL has no TLS: others on the network can read the token.');
  if (passedOver === undefined) return ok(detail);
  return warning(detail, `The data folder here is that of ${passedOver}. To use that server: --data-dir`);
}

function compareClocks(date: string | null, nowMs: number): Finding | undefined {
  const differenceMs = nowMs - Date.parse(date ?? '');
  if (Number.isNaN(differenceMs)) return undefined;
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= maxClockDifferenceMs) return ok('agrees with the server');
  const direction = differenceMs > 0 ? 'ahead of' : 'behind';
  return warning(
    `${count(seconds, 'second')} ${direction} the server`,
    'Set the clock of the machine that is wrong: tokens and certificates depend on it.',
  );
}

function checkLogin(
  { name, token }: { readonly name: string; readonly token: { scopes: readonly string[]; expiresAt: string | null } },
  { login, url }: Connection,
  nowMs: number,
): Finding {
  const detail = `${name}; ${token.scopes.join(', ')}; expires ${formatTime(token.expiresAt)}`;
  if (token.expiresAt === null || Date.parse(token.expiresAt) - nowMs > soonMs) return ok(detail);
  const again = login === undefined ? `tenon login --server ${url}` : `tenon login --profile ${login.name}`;
  return warning(detail, `It expires within a day. Log in again: ${again}`);
}
