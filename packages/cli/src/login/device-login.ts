import type { DeviceAuthorization, OauthToken } from '@tenon/protocol';
import { deviceCodeGrantType } from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { startSpinner } from '../spinner.ts';
import { printable } from '../text.ts';
import { approvalTimeoutMs, type LoginContext } from './login-context.ts';
import { loginRefused, loginTimedOut, type OauthRefusal, requestDeviceCode, requestToken } from './oauth-client.ts';

/** RFC 8628 §3.5: what each `slow_down` adds for good. */
const slowDownMs = 5_000;
const minIntervalMs = 1_000;
/** The longest pause between two questions to a server that does not answer. */
const maxBackoffMs = 60_000;

/**
 * Logs in through a browser anywhere: the device grant (RFC 8628). The person types a code on the server's page.
 *
 * @throws CliError when it is denied, or not approved before the code expires
 */
export async function logInByDevice(context: LoginContext): Promise<OauthToken> {
  const device = await requestDeviceCode(context.target, context.metadata, context.loginRequest);
  if ('error' in device) throw loginRefused(device);
  invite(context, device);
  const spinner = startSpinner(context.io, 'Waiting for your approval on that page (Ctrl-C cancels)');
  try {
    return await poll(context, device);
  } finally {
    spinner.end();
  }
}

function invite({ io, target, style }: LoginContext, device: DeviceAuthorization): void {
  const { user_code, verification_uri, verification_uri_complete } = device;
  io.stderr.write(`To log in to ${target.url}, open this page in a browser, on whichever device:\n\n`);
  io.stderr.write(`  ${printable(verification_uri)}\n\n`);
  io.stderr.write(`and enter the code  ${style.bold(printable(user_code))}\n\n`);
  io.stderr.write(
    `This address has it filled in; compare it before you approve:\n\n  ${printable(verification_uri_complete)}\n\n`,
  );
}

async function poll({ io, target, metadata }: LoginContext, device: DeviceAuthorization): Promise<OauthToken> {
  const parameters = { grant_type: deviceCodeGrantType, device_code: device.device_code };
  const endMs = io.nowMs() + Math.min(device.expires_in * 1000, approvalTimeoutMs);
  let intervalMs = Math.min(Math.max(device.interval * 1000, minIntervalMs), maxBackoffMs);
  let pauseMs = intervalMs;
  for (;;) {
    await io.sleep(pauseMs, target.signal);
    if (io.nowMs() >= endMs) throw loginTimedOut();
    const answer = await unlessUnreachable(requestToken(target, metadata, parameters));
    if (answer === undefined) {
      pauseMs = Math.min(pauseMs * 2, maxBackoffMs); // RFC 8628 §3.5: a server that does not answer is asked less often
      continue;
    }
    if (!('error' in answer)) return answer;
    intervalMs += assertPending(answer) === 'slow_down' ? slowDownMs : 0;
    pauseMs = intervalMs;
  }
}

/** @returns `undefined` when the server is away for the moment */
async function unlessUnreachable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === exitCodes.unavailable) return undefined;
    throw error;
  }
}

/** @throws CliError for what means more than "not yet" */
function assertPending(answer: OauthRefusal): 'authorization_pending' | 'slow_down' {
  const { error } = answer;
  if (error === 'authorization_pending' || error === 'slow_down') return error;
  throw loginRefused(answer);
}
