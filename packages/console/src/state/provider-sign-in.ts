import type { ProviderRedirect, ProviderSignInFault, ProviderSignInInput } from '@tenon/protocol';
import type { Session } from './session.ts';

/*
 * Sign-in with a provider: the browser leaves the console, and the server sends it back to `/sign-in`, with the purpose and a refusal in
 * the query. A confirmation does so in a window of its own, so that the page keeps its state.
 */

/** How the browser came back from a provider. */
export interface ProviderReturn {
  readonly purpose: 'sign_in' | 'link' | 'confirm';
  readonly provider: string;
  /** Why it was refused; `undefined` after a success. */
  readonly refused: string | undefined;
}

export function readProviderReturn(search: string): ProviderReturn | undefined {
  const query = new URLSearchParams(search);
  const purpose = query.get('purpose');
  const provider = query.get('provider');
  if (provider === null || (purpose !== 'sign_in' && purpose !== 'link' && purpose !== 'confirm')) return undefined;
  return { purpose, provider, refused: query.get('refused') ?? undefined };
}

const explanations: { readonly [Fault in ProviderSignInFault]: (provider: string) => string } = {
  canceled: (provider) => `You cancelled at ${provider}.`,
  unavailable: (provider) => `${provider} can’t be reached. Try again later.`,
  rejected: (provider) => `The response of ${provider} is not valid. Try again. If it fails again, ask the operator.`,
  expired: () => 'The sign-in took too long, or was started in another browser. Try again.',
  email: (provider) => `${provider} did not send a verified e-mail address, which a new account needs.`,
  email_taken: (provider) =>
    `Your e-mail address already has an account here. Sign in to it in another way, then link ${provider} on the page of your account.`,
  no_account: (provider) =>
    `You have no account here, and ${provider} may not create one for you. Ask for an invitation.`,
  suspended: () => 'Your account is suspended. Ask the operator of this server.',
  invitation: () => 'The invitation or link is not valid any more. Ask for another one.',
  too_many: () => 'This was tried too often. Wait a few minutes, then try again.',
  identity_taken: (provider) => `This user of ${provider} is linked to another account.`,
  other_identity: (provider) => `You signed in at ${provider} as another user than the one of your account.`,
  not_confirmed: (provider) => `${provider} did not ask you to sign in again. Confirm in another way.`,
  has_passkey: () => 'Your account has a passkey. Confirm with the passkey.',
  not_signed_in: () => 'You were signed out meanwhile. Sign in, then try again.',
};

/** Explains a refusal to the user. */
export function explainRefusal(refused: string, provider: string): string {
  const explain = Object.hasOwn(explanations, refused) ? explanations[refused as ProviderSignInFault] : undefined;
  return (explain ?? explanations.rejected)(provider);
}

/** Opens the provider in this tab. */
export async function goToProvider(
  session: Session,
  providerId: string,
  body: ProviderSignInInput = {},
  purpose: '' | '/link' = '',
): Promise<void> {
  const { redirectTo } = await session.calls.post<ProviderRedirect>(`/session/oidc/${providerId}${purpose}`, body);
  location.assign(redirectTo);
  await new Promise(() => undefined); // the page is left
}

const channelName = 'tenon.provider-confirmation';

/** Reports the end of a confirmation to the window that opened this one, and closes this window. */
export function reportConfirmation({ refused }: ProviderReturn): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage({ refused: refused ?? null });
  channel.close();
  window.close();
}

/**
 * Confirms the session with a provider, in another window. Call it in the handler of a click, so that the browser doesn't block the window.
 *
 * @param label the provider's name
 * @returns an explanation if the confirmation failed
 * @throws ApiError; DOMException `AbortError` after `signal`
 */
export async function confirmWithProvider(
  session: Session,
  provider: { readonly id: string; readonly label: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const opened = window.open('about:blank', '_blank', 'popup,width=520,height=720');
  if (opened === null) return 'The browser blocked the window. Allow pop-up windows of this page, then try again.';
  const channel = new BroadcastChannel(channelName);
  try {
    const { redirectTo } = await session.calls.post<ProviderRedirect>(`/session/oidc/${provider.id}/confirm`, {});
    opened.location.replace(redirectTo);
    const refused = await new Promise<string | null>((resolve, reject) => {
      channel.onmessage = ({ data }: MessageEvent<{ readonly refused: string | null }>) => resolve(data.refused);
      signal.addEventListener('abort', () => reject(new DOMException('The confirmation was cancelled', 'AbortError')));
    });
    return refused === null ? undefined : explainRefusal(refused, provider.label);
  } catch (error) {
    opened.close();
    throw error;
  } finally {
    channel.close();
  }
}
