import { comparisonCode, type OauthToken, oauthErrorCode } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import { CliError } from '../errors.ts';
import { startSpinner } from '../spinner.ts';
import { printable } from '../text.ts';
import { approvalTimeoutMs, type LoginContext } from './login-context.ts';
import { type Callback, type LoopbackListener, listenOnLoopback } from './loopback-listener.ts';
import { loginParameters, loginRefused, loginTimedOut, requestToken } from './oauth-client.ts';
import { createPkce, type Pkce } from './pkce.ts';

/**
 * Logs in through a browser on this machine: authorization code with PKCE, and a redirect to the loopback address (RFC 8252).
 *
 * @param opensBrowser whether to open the page; its address is shown in any case
 * @throws CliError when it is denied, or not approved within ten minutes
 */
export async function logInByLoopback(context: LoginContext, opensBrowser: boolean): Promise<OauthToken> {
  const { io, target, metadata } = context;
  const listener = await listenOnLoopback();
  try {
    const pkce = createPkce(io.randomBytes);
    const state = Buffer.from(io.randomBytes(32)).toString('base64url');
    const url = authorizationUrl(context, listener, pkce, state);
    invite(context, url, pkce, opensBrowser);
    const callback = await waitForBrowser(context, listener, { url, state, opensBrowser });
    if ('error' in callback) throw callbackRefused(callback);
    const granted = await requestToken(target, metadata, {
      grant_type: 'authorization_code',
      code: callback.code,
      redirect_uri: listener.redirectUri,
      code_verifier: pkce.verifier,
    });
    if ('error' in granted) throw loginRefused(granted);
    return granted;
  } finally {
    await listener.close();
  }
}

function authorizationUrl(
  { metadata, loginRequest }: LoginContext,
  { redirectUri }: LoopbackListener,
  { challenge }: Pkce,
  state: string,
): string {
  const url = new URL(metadata.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    ...loginParameters(loginRequest),
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function invite({ io, target, style }: LoginContext, url: string, { challenge }: Pkce, opensBrowser: boolean): void {
  const how = opensBrowser ? 'A browser opens to log in to' : 'To log in to';
  const what = opensBrowser ? '. If none does, open this page on this machine' : ', open this page on this machine';
  io.stderr.write(`${how} ${target.url}${what}:\n\n  ${url}\n\n`);
  io.stderr.write(`Approve it only if the page shows this code:  ${style.bold(comparisonCode(challenge))}\n\n`);
}

async function waitForBrowser(
  { io, target, metadata }: LoginContext,
  listener: LoopbackListener,
  { url, state, opensBrowser }: { readonly url: string; readonly state: string; readonly opensBrowser: boolean },
): Promise<Callback> {
  const [late, done] = [new AbortController(), new AbortController()];
  io.sleep(approvalTimeoutMs, done.signal).then(
    () => late.abort(loginTimedOut()),
    () => {}, // it was done before
  );
  const spinner = startSpinner(io, 'Waiting for your approval in the browser (Ctrl-C cancels)');
  try {
    if (opensBrowser) {
      io.openBrowser(url).catch(() => {
        if (!done.signal.aborted) spinner.say('No browser could be opened: open the page above yourself.');
      });
    }
    const signal = AbortSignal.any([target.signal, late.signal]);
    return await listener.receive({ state, issuer: metadata.issuer }, signal);
  } finally {
    done.abort();
    spinner.end();
  }
}

function callbackRefused({ error, description }: Extract<Callback, { readonly error: string }>): CliError {
  if (isValid(oauthErrorCode, error)) return loginRefused({ error, description });
  return new CliError(
    'unexpected_response',
    `The server refused the login for a reason unknown here: ${printable(error)}.`,
  );
}
