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
 * Where a person approves the login of a device that can open no browser of its own (RFC 8628 §3.3). A code that comes with the
 * link is only filled in: whoever sends links must not decide.
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
        title="Sign in to see who asks"
        intro="A device asks to act for you on this server. Once you are signed in you see what it asks for, and decide."
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
        <Page key="decide" title="Approve this login?" intro="A device asks to act for you on this server.">
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
              Another code
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
      ? 'No login waits with this code. It works once, for ten minutes: look at the terminal again, or begin anew there.'
      : undefined;
  return (
    <Page
      title="Log a device in"
      intro={
        given === ''
          ? 'Your terminal shows a code, to say which login is yours.'
          : 'Your terminal shows a code. Go on only if it is this one.'
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
            hint={given === '' ? undefined : 'It came with the link that you opened.'}
          />
        </div>
        <ErrorView error={isUnknown ? undefined : error} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy}>
            Go on
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
          ? 'You can go back to your terminal: it goes on within a few seconds. This page may be closed.'
          : 'The device gets no access, and is told so. If you did not begin this login yourself, nothing more is to be done.'}
      </p>
      <div class="actions">
        <LinkButton to="/" kind="quiet">
          To your applications
        </LinkButton>
        <Button kind="text" onClick={onAgain}>
          Another code
        </Button>
      </div>
    </Page>
  );
}
