import { useAccount, useSession, useToast } from '../state/services.ts';

/** The account that decides, with a button to sign in with another one on the same page. */
export function SignedInAs() {
  const { name, email } = useAccount();
  const { session } = useSession();
  const toast = useToast();
  const leave = async (): Promise<void> => {
    try {
      await session.signOut();
    } catch (error) {
      toast(error instanceof Error ? error.message : 'Signing out failed.', 'failed');
    }
  };
  return (
    <p class="signed-in-as">
      <span>
        You are signed in as <strong>{name}</strong>
        {email === null ? null : <span class="soft"> ({email})</span>}.
      </span>{' '}
      <button type="button" class="link-button" onClick={() => void leave()}>
        Use another account
      </button>
    </p>
  );
}
