import type { AuthorizationView } from '@tenon/protocol';
import { parseUserCode } from '@tenon/protocol/login';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { hasCode } from '../api/api-error.ts';
import { href } from '../base-path.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { ErrorView } from '../components/error-view.tsx';
import { TextField } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { markNavigated } from '../state/navigation.ts';
import { useSession } from '../state/services.ts';
import { useSubmit } from '../state/use-submit.ts';
import { type ApprovalDecision, ApprovalForm } from './approval/approval-form.tsx';
import { sessionCall } from './approval/session-call.ts';
import { SignInForm } from './sign-in-form.tsx';

type Step =
  | { readonly name: 'code' }
  | { readonly name: 'decide'; readonly view: AuthorizationView }
  | { readonly name: 'done'; readonly decision: ApprovalDecision['decision'] };

/**
 * Approves the login of a device without a browser (RFC 8628 §3.3). A code in the link only fills the field, because the sender
 * of a link must not decide.
 */
export function DevicePage() {
  const { session, view } = useSession();
  const { query, route } = useLocation();
  const [step, setStep] = useState<Step>({ name: 'code' });
  const go = (next: Step): void => {
    markNavigated(); // so that the new heading gets the focus
    setStep(next);
  };
  if (view.status !== 'ready') return null;
  if (view.account === null) {
    return (
      <SignInForm
        title="Sign in to review this login"
        intro="A device requests access to your account. Sign in to review the request."
      />
    );
  }
  switch (step.name) {
    case 'code':
      return (
        <CodeForm key="code" given={query.user_code ?? ''} onFound={(found) => go({ name: 'decide', view: found })} />
      );
    case 'decide':
      return (
        <Page key="decide" title="Approve this login?" intro="A device requests access to your account.">
          <ApprovalForm
            view={step.view}
            onDecide={async (decided) => {
              await sessionCall(session, '/session/device', { userCode: step.view.userCode, ...decided });
              route(href('/device'), true); // its code is of no more use
              go({ name: 'done', decision: decided.decision });
            }}
          />
          <p>
            <button type="button" class="link-button" onClick={() => go({ name: 'code' })}>
              Enter another code
            </button>
          </p>
        </Page>
      );
    case 'done':
      return <Done key="done" decision={step.decision} onAgain={() => go({ name: 'code' })} />;
  }
}

function CodeForm({ given, onFound }: { readonly given: string; readonly onFound: (view: AuthorizationView) => void }) {
  const { session } = useSession();
  const [code, setCode] = useState(() => parseUserCode(given) ?? given.slice(0, 50));
  const [isNoCode, setNoCode] = useState(false);
  const { submit, isBusy, error, reset } = useSubmit(async () => {
    const userCode = parseUserCode(code);
    setNoCode(userCode === undefined);
    if (userCode === undefined) return;
    onFound(await sessionCall<AuthorizationView>(session, '/session/device/view', { userCode }));
  });
  const isUnknown = hasCode(error, 'not_found');
  const fault = isNoCode
    ? 'A code has eight letters and looks like BCDF-GHJK.'
    : isUnknown
      ? 'No login is waiting for this code. A code works once and for ten minutes. Check your terminal, or start again there.'
      : undefined;
  return (
    <Page
      title="Connect a device"
      intro={
        given === '' ? 'Enter the code shown in your terminal.' : 'Continue only if your terminal shows this code.'
      }
    >
      <form onSubmit={submit} class="stack" noValidate>
        <div class="user-code">
          <TextField
            label="Code from the terminal"
            name="userCode"
            value={code}
            onInput={(value) => {
              setCode(value);
              setNoCode(false);
              reset();
            }}
            maxLength={50}
            placeholder="XXXX-XXXX"
            isCode
            hasFocus
            error={fault}
            hint={given === '' ? undefined : 'From the link that you opened.'}
          />
        </div>
        <ErrorView error={isUnknown ? undefined : error} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy}>
            Continue
          </Button>
        </div>
      </form>
    </Page>
  );
}

function Done({
  decision,
  onAgain,
}: {
  readonly decision: ApprovalDecision['decision'];
  readonly onAgain: () => void;
}) {
  const isApproved = decision === 'approve';
  return (
    <Page title={isApproved ? 'Approved' : 'Denied'}>
      <p>
        {isApproved
          ? 'Return to your terminal; it continues within a few seconds. You can close this page.'
          : 'The device gets no access. You don’t need to do anything else.'}
      </p>
      <div class="actions">
        <LinkButton to="/" kind="quiet">
          Go to your applications
        </LinkButton>
        <Button kind="text" onClick={onAgain}>
          Enter another code
        </Button>
      </div>
    </Page>
  );
}
