import { formatUserCode, newId, parseUserCode, userCodeLength } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import type { DeviceGrantRecord } from '../../db/records.ts';
import { ConflictError, type Queries, type RandomBytes } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { requireSession } from '../confirmation.ts';
import { hashSecret, makeCode } from '../secrets.ts';
import { type NewToken, requireTokenQuota, storeToken } from '../tokens.ts';
import { type BrowserActor, grantScopes, isSessionOpen, type LoginDecision, requireSameUser } from './approval.ts';
import type { Client } from './clients.ts';
import { cleanDeviceName } from './device-name.ts';
import type { DevicePolls } from './device-polls.ts';
import { OauthError } from './errors.ts';
import { makeLoginToken } from './login-tokens.ts';
import { parseScopes } from './scopes.ts';

/*
 * The device grant (RFC 8628): a login on a machine without a browser. State transitions:
 *
 *   pending ──► approved ──► deleted   a user approves; the device fetches the token once
 *           ──► denied                 a user denies
 *           ──► expired                by time, from each state
 */

/** How long a device grant waits for the user's decision and for the device. */
export const deviceGrantLifetimeMs = 10 * 60_000;

/** How often a random user code is generated until it is unique. */
const maxUserCodeAttempts = 5;

/** The device's authorization request (RFC 8628 §3.1). */
interface DeviceRequest {
  readonly client: Client;
  readonly scope: string | undefined;
  readonly deviceName: string | undefined;
  /** The network address of the device. */
  readonly address: string;
}

/**
 * Creates a grant with its codes. Only the hashes of the codes are stored.
 *
 * @throws OauthError `invalid_scope`
 */
export async function startDeviceGrant(deps: Deps, request: DeviceRequest) {
  const { client, scope, deviceName, address } = request;
  const scopes = parseScopes(scope);
  for (let attempt = 1; ; attempt++) {
    const nowMs = deps.clock();
    const deviceCode = makeCode(deps.random);
    const userCode = generateUserCode(deps.random);
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
      await deps.store.write((tx) => tx.insertDeviceGrant(grant));
      return { grant, deviceCode, userCode };
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === maxUserCodeAttempts) throw error;
    }
  }
}

/** Generates a user code of uniformly distributed letters. */
function generateUserCode(random: RandomBytes): string {
  const bytes: number[] = [];
  // A code has 20 different letters. 240 is the largest multiple of 20 in a byte: larger bytes would make some letters more likely.
  while (bytes.length < userCodeLength) bytes.push(...random(userCodeLength).filter((byte) => byte < 240));
  return formatUserCode(bytes);
}

/**
 * Finds the pending grant with a user code.
 *
 * @param input the code as the user typed it. Case, dashes and spaces are ignored
 * @returns the grant, and its user code in the displayed format
 * @throws DomainError `not_found` for an unknown code, and for a grant that has expired or is decided
 */
export async function findOpenDeviceGrant({ clock }: Deps, queries: Queries, input: string) {
  const userCode = parseUserCode(input);
  const grant = userCode === undefined ? undefined : await queries.deviceGrantByUserCode(hashSecret(userCode));
  if (userCode === undefined || grant?.status !== 'pending' || grant.expiresAtMs <= clock()) {
    throw new DomainError(
      'not_found',
      'No login waits for this code. Compare it with the terminal. A code works once, for ten minutes.',
    );
  }
  return { grant, userCode };
}

/**
 * Approves or denies a pending device grant.
 *
 * @param userCode as in {@link findOpenDeviceGrant}
 * @throws DomainError `not_found`, and the errors of {@link grantScopes}
 */
export async function decideDeviceGrant(
  deps: Deps,
  actor: BrowserActor,
  userCode: string,
  decision: LoginDecision,
): Promise<void> {
  requireSameUser(actor, decision);
  const { grant } = await findOpenDeviceGrant(deps, deps.store.read, userCode);
  const outcome =
    decision.decision === 'deny'
      ? ({ status: 'denied' } as const)
      : ({
          status: 'approved',
          userId: actor.userId,
          sessionId: actor.sessionId,
          scopes: await grantScopes(deps, actor, decision, grant.scopes),
        } as const);
  await deps.store.write(async (tx) => {
    await requireSession(tx, actor.sessionId);
    const { grant: pending } = await findOpenDeviceGrant(deps, tx, userCode);
    await tx.decideDeviceGrant(pending.id, outcome);
    const common = { means: 'device_code', deviceAddress: pending.address };
    const target = { id: pending.clientId, name: pending.deviceName };
    if (outcome.status === 'denied') {
      await record(deps, tx, actor, { action: 'login.deny', target, details: common });
    } else {
      const details = { ...common, scopes: outcome.scopes };
      await record(deps, tx, actor, { action: 'login.approve', target, details });
    }
  });
}

/**
 * Handles a device's token request (RFC 8628 §3.4). Returns the token of an approved grant, once.
 *
 * @throws OauthError `authorization_pending`, `slow_down`, `expired_token`; `access_denied` for a denied grant, or if the session
 *   that approved it has ended; `invalid_grant` for a code that is unknown, used, or another client's
 */
export async function redeemDeviceCode(
  deps: Deps,
  polls: DevicePolls,
  { clientId, deviceCode }: { readonly clientId: string; readonly deviceCode: string },
): Promise<NewToken> {
  const deviceCodeHash = hashSecret(deviceCode);
  const grant = await deps.store.read.deviceGrantByDeviceCode(deviceCodeHash);
  if (grant === undefined || grant.clientId !== clientId) throw unknownDeviceCode();
  if (grant.expiresAtMs <= deps.clock())
    throw new OauthError('expired_token', 'The login has expired. Start it again.');
  if (grant.status === 'denied') throw new OauthError('access_denied', 'The login was denied.');
  if (polls.isTooSoon(grant.id)) {
    throw new OauthError('slow_down', 'The device polls too often. Wait five seconds longer between two requests.');
  }
  if (grant.status === 'pending') throw new OauthError('authorization_pending', 'The login is not approved yet.');
  polls.forget(grant.id);
  return deps.store.write(async (tx) => {
    const approved = await tx.deviceGrantByDeviceCode(deviceCodeHash);
    const user = approved?.userId ? await tx.user(approved.userId) : undefined;
    if (approved === undefined || user === undefined || user.deletedAtMs !== null) throw unknownDeviceCode();
    if (!(await isSessionOpen(deps, tx, approved.sessionId))) {
      throw new OauthError('access_denied', 'The browser session that approved the login has ended. Log in again.');
    }
    const token = makeLoginToken(deps, { ...approved, userId: user.id });
    await requireTokenQuota(deps, tx, user.id);
    await storeToken(deps, tx, { userId: user.id, sessionId: null }, token.record, 'login');
    await tx.deleteDeviceGrant(approved.id);
    return token;
  });
}

function unknownDeviceCode(): OauthError {
  return new OauthError('invalid_grant', 'The device code is unknown, or its token was already fetched.');
}
