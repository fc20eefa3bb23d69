import type { InvitationPreview } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { markNavigated } from '../../state/navigation.ts';
import { NewAccountForm } from '../new-account-form.tsx';
import { SignInForm } from '../sign-in-form.tsx';
import { Terms } from './terms.tsx';

type Step = 'choose' | 'sign-in' | 'sign-up';

/**
 * The invitation for a visitor who isn't signed in: shows it, then signs in or creates an account on the same page. After that,
 * the page renders for the signed-in user.
 */
export function InvitationSignIn({ code, preview }: { readonly code: string; readonly preview: InvitationPreview }) {
  const [step, setStep] = useState<Step>('choose');
  const go = (next: Step) => (): void => {
    markNavigated(); // so that the new heading gets the focus
    setStep(next);
  };
  const { name } = preview.app;
  switch (step) {
    case 'choose':
      return <Choose preview={preview} onSignIn={go('sign-in')} onSignUp={go('sign-up')} />;
    case 'sign-in':
      return (
        <SignInForm key={step} title="Sign in" intro={`You can then respond to ${name}’s invitation.`}>
          <Back onBack={go('choose')} />
        </SignInForm>
      );
    case 'sign-up':
      return (
        <Page key={step} title="Create an account" intro={`You can then respond to ${name}’s invitation.`}>
          <NewAccountForm codes={{ invitationCode: code }} onDone={() => undefined} />
          <Back onBack={go('choose')} />
        </Page>
      );
  }
}

function Choose(props: {
  readonly preview: InvitationPreview;
  readonly onSignIn: () => void;
  readonly onSignUp: () => void;
}) {
  const { app, allowsSignUp } = props.preview;
  return (
    <Page key="choose" title={`${app.name} invites you`}>
      <Terms preview={props.preview} />
      <div class="stack">
        <p>
          {allowsSignUp
            ? 'Sign in to respond, or create an account.'
            : 'Sign in to respond. No account can be created with this invitation: if you have none, ask the operator of this server.'}
        </p>
        <div class={allowsSignUp ? 'choice' : 'choice choice-single'}>
          {allowsSignUp ? <Button onClick={props.onSignUp}>Create account</Button> : null}
          <Button kind={allowsSignUp ? 'quiet' : 'primary'} onClick={props.onSignIn}>
            Sign in
          </Button>
        </div>
      </div>
    </Page>
  );
}

function Back({ onBack }: { readonly onBack: () => void }) {
  return (
    <p>
      <button type="button" class="link-button" onClick={onBack}>
        Back to the invitation
      </button>
    </p>
  );
}
