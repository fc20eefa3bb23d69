import { formatUserCode, newId, parseUserCode, userCodeLength } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { requireSession } from '../confirmation.ts';
import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { ConflictError, type Queries, type RandomBytes } from '../ports.ts';
import type { DeviceGrantRecord } from '../records.ts';
import { hashSecret, makeCode } from '../secrets.ts';
import { type NewToken, requireTokenQuota, storeToken } from '../tokens.ts';
import { type Approver, grantScopes, isSessionOpen, type LoginDecision, requireSameUser } from './approval.ts';
import type { Client } from './clients.ts';
import { cleanDeviceName } from './device-name.ts';
import type { DevicePolls } from './device-polls.ts';
import { OauthError } from './errors.ts';
import { makeLoginToken } from './login-tokens.ts';
import { parseScopes } from './scopes.ts';

/*
 * A login of a machine on which no browser can be opened (RFC 8628). Its states:
 *
 *   pending ──► approved ──► gone     a person decides; the token is handed out, once
 *           ──► denied                a person decides
 *           ──► expired               the clock, whatever was decided
 */

/** How long a device's request waits for a person, in milliseconds. */
export const deviceGrantLifetimeMs = 10 * 60_000;

/** How often a user code that another request has is drawn again. */
const maxDraws = 5;

/** What a device asks (RFC 8628 §3.1). */
export interface DeviceRequest {
  readonly client: Client;
  readonly scope: string | undefined;
  readonly deviceName: string | undefined;
  /** The network address that asks. */
  readonly address: string;
}

/** A request that was begun, with the codes that are told this once. */
export interface StartedDeviceGrant {
  readonly grant: DeviceGrantRecord;
  readonly deviceCode: string;
  readonly userCode: string;
}

/** @throws OauthError `invalid_scope` */
export async function startDeviceGrant(context: Context, request: DeviceRequest): Promise<StartedDeviceGrant> {
  const { client, scope, deviceName, address } = request;
  const scopes = parseScopes(scope);
  for (let draw = 1; ; draw++) {
    const nowMs = context.clock();
    const deviceCode = makeCode(context.random);
    const userCode = drawUserCode(context.random);
    const grant: DeviceGrantRecord = {
      id: newId('deviceGrant'),
      deviceCodeHash: hashSecret(deviceCode),
      userCodeHash: hashSecret(userCode),
      clientId: client.id,
      scopes,
      deviceName: cleanDeviceName(deviceName),
      address,
      status: 'pending',
      userId: null,
      sessionId: null,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + deviceGrantLifetimeMs,
    };
    try {
      await context.store.write((tx) => tx.insertDeviceGrant(grant));
      return { grant, deviceCode, userCode };
    } catch (error) {
      if (!(error instanceof ConflictError) || draw === maxDraws) throw error;
    }
  }
}

/** A user code each of whose letters is as likely as any other. */
function drawUserCode(random: RandomBytes): string {
  const draws: number[] = [];
  // 240 is the last multiple of 20 in a byte's range: what lies beyond would make some letters likelier.
  while (draws.length < userCodeLength) draws.push(...random(userCodeLength).filter((byte) => byte < 240));
  return formatUserCode(draws);
}

/** A request that a person can decide on, and its code in the form in which it is shown. */
export interface OpenDeviceGrant {
  readonly grant: DeviceGrantRecord;
  readonly userCode: string;
}

/**
 * Finds the request that has a user code.
 *
 * @param typed as a person typed it: case, dashes and spaces don't count
 * @throws DomainError `not_found` when none has it, or it has expired or was decided on
 */
export async function findOpenDeviceGrant(
  { clock }: Pick<Context, 'clock'>,
  queries: Queries,
  typed: string,
): Promise<OpenDeviceGrant> {
  const userCode = parseUserCode(typed);
  const grant = userCode === undefined ? undefined : await queries.deviceGrantByUserCode(hashSecret(userCode));
  if (userCode === undefined || grant?.status !== 'pending' || grant.expiresAtMs <= clock()) {
    throw new DomainError(
      'not_found',
      'No login waits for this code. Compare it with the terminal; a code works once, for ten minutes.',
    );
  }
  return { grant, userCode };
}

/**
 * Decides on a device's request, which nobody has decided on before.
 *
 * @throws DomainError `not_found`, and what {@link grantScopes} throws
 */
export async function decideDeviceGrant(
  context: Context,
  approver: Approver,
  typed: string,
  decision: LoginDecision,
): Promise<void> {
  requireSameUser(approver, decision);
  const { grant } = await findOpenDeviceGrant(context, context.store.read, typed);
  const outcome =
    decision.decision === 'deny'
      ? ({ status: 'denied' } as const)
      : ({
          status: 'approved',
          userId: approver.userId,
          sessionId: approver.sessionId,
          scopes: await grantScopes(context, approver, decision, grant.scopes),
        } as const);
  await context.store.write(async (tx) => {
    await requireSession(tx, approver.sessionId);
    const { grant: open } = await findOpenDeviceGrant(context, tx, typed);
    await tx.settleDeviceGrant(open.id, outcome);
    const told = { means: 'device_code', deviceAddress: open.address };
    const target = { id: open.clientId, name: open.deviceName };
    if (outcome.status === 'denied') {
      await record(context, tx, approver, { action: 'login.deny', target, details: told });
    } else {
      const details = { ...told, scopes: outcome.scopes };
      await record(context, tx, approver, { action: 'login.approve', target, details });
    }
  });
}

/**
 * Answers a device that asks for its token (RFC 8628 §3.4), and hands the token out once.
 *
 * @throws OauthError `authorization_pending`, `slow_down`, `expired_token`; `access_denied` when it was denied, or the session
 *   that approved it has ended; `invalid_grant` for a code that is unknown, another client's, or was redeemed before
 */
export async function redeemDeviceCode(
  context: Context,
  polls: DevicePolls,
  { clientId, deviceCode }: { readonly clientId: string; readonly deviceCode: string },
): Promise<NewToken> {
  const deviceCodeHash = hashSecret(deviceCode);
  const grant = await context.store.read.deviceGrantByDeviceCode(deviceCodeHash);
  if (grant === undefined || grant.clientId !== clientId) throw unknownDeviceCode();
  if (grant.expiresAtMs <= context.clock())
    throw new OauthError('expired_token', 'The login took too long. Begin again.');
  if (grant.status === 'denied') throw new OauthError('access_denied', 'The login was denied.');
  if (polls.isTooSoon(grant.id)) {
    throw new OauthError('slow_down', 'Wait five seconds longer between two questions from now on.');
  }
  if (grant.status === 'pending') throw new OauthError('authorization_pending', 'Nobody has decided yet.');
  polls.forget(grant.id);
  return context.store.write(async (tx) => {
    const approved = await tx.deviceGrantByDeviceCode(deviceCodeHash);
    const user = approved?.userId ? await tx.user(approved.userId) : undefined;
    if (approved === undefined || user === undefined || user.deletedAtMs !== null) throw unknownDeviceCode();
    if (!(await isSessionOpen(context, tx, approved.sessionId))) {
      throw new OauthError('access_denied', 'The browser session that approved the login has ended. Log in again.');
    }
    const token = makeLoginToken(context, { ...approved, userId: user.id });
    await requireTokenQuota(context, tx, user.id);
    await storeToken(context, tx, { userId: user.id, sessionId: null }, token.record, 'login');
    await tx.deleteDeviceGrant(approved.id);
    return token;
  });
}

function unknownDeviceCode(): OauthError {
  return new OauthError('invalid_grant', 'The device code is unknown, or its token was fetched before.');
}
