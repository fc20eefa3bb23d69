import type { PasskeyAssertion, PasskeyAttestation } from '@tenon/protocol';
import type { SessionCalls } from '../api/client.ts';

/** Whether the browser has passkeys at all. They need https or localhost, and a host name. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && !isAddress(location.hostname);
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);
}

/** Whether the browser offers passkeys in a field with `autocomplete="username webauthn"`. */
export async function hasPasskeyAutofill(): Promise<boolean> {
  return hasPasskeys() && ((await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false);
}

/** A passkey was not used or added. The message says what the user can do. */
export class PasskeyError extends Error {
  override readonly name = 'PasskeyError';
}

/**
 * Requests a response from one of the user's passkeys.
 *
 * @param isAutofill waits, without a dialog, until the user chooses a passkey in a field
 * @throws PasskeyError; DOMException `AbortError` when another request replaces it
 */
export async function getPasskey(calls: SessionCalls, path: string, isAutofill = false): Promise<PasskeyAssertion> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = await calls.post<Parameters<typeof startAuthentication>[0]['optionsJSON']>(path, {});
  return withWords(async () => {
    const { authenticatorAttachment: _, ...response } = await startAuthentication({
      optionsJSON,
      useBrowserAutofill: isAutofill,
    });
    return { ...response, clientExtensionResults: {} };
  });
}

/** Ends a request for a passkey that waits in a field. */
export async function stopPasskeyAutofill(): Promise<void> {
  (await import('@simplewebauthn/browser')).WebAuthnAbortService.cancelCeremony();
}

/** Creates a passkey. @throws PasskeyError */
export async function createPasskey(optionsJSON: unknown): Promise<PasskeyAttestation> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return withWords(async () => {
    const { id, rawId, type, response } = await startRegistration({
      optionsJSON: optionsJSON as Parameters<typeof startRegistration>[0]['optionsJSON'],
    });
    const { clientDataJSON, attestationObject, transports = [] } = response;
    return {
      id,
      rawId,
      type,
      response: { clientDataJSON, attestationObject, transports: [...transports] },
      clientExtensionResults: {},
    };
  });
}

/** Replaces the errors of browsers, which say little on purpose. */
async function withWords<T>(work: () => Promise<T>): Promise<T> {
  if (!hasPasskeys()) throw new PasskeyError(wordsOf(''));
  try {
    return await work();
  } catch (error) {
    const { name } = error as Error;
    if (name === 'AbortError') throw new DOMException('Another request replaced this one', 'AbortError');
    throw new PasskeyError(wordsOf(name), { cause: error });
  }
}

/** @param name the name of the browser's error: https://www.w3.org/TR/webauthn-3/#sctn-createCredential */
export function wordsOf(name: string): string {
  switch (name) {
    case 'NotAllowedError':
      return 'No passkey was used: you cancelled, or it took too long. Try again.';
    case 'InvalidStateError':
      return 'This device already has a passkey for your account.';
    case 'SecurityError':
      return 'Passkeys work only at the public address of this server. Open that address.';
    case 'ConstraintError':
      return 'This device can’t verify you. Set up a screen lock or a PIN, or use another device.';
    default:
      return 'This browser can’t use passkeys here. They need https or localhost, and a host name.';
  }
}
