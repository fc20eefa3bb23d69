import type { AuthorizationView, TokenScope } from '@tenon/protocol';
import { useRef, useState } from 'preact/hooks';
import { hasCode } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { CheckboxField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { SignedInAs } from '../../components/signed-in-as.tsx';
import { Time } from '../../components/time.tsx';
import { useAccount, useSession } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { CompareCode } from './compare-code.tsx';
import { ScopeChoice } from './scopes.tsx';

/** The decision, as `POST /session/authorization` and `POST /session/device` expect it. */
export type ApprovalDecision =
  | { readonly decision: 'deny'; readonly userId: string }
  | {
      readonly decision: 'approve';
      readonly userId: string;
      readonly scopes: readonly TokenScope[];
    };

/**
 * A login request with its details, and two buttons of equal weight.
 *
 * @param onDecide sends the decision; its errors are shown, and the user can retry
 */
export function ApprovalForm(props: {
  readonly view: AuthorizationView;
  readonly onDecide: (decided: ApprovalDecision) => Promise<void>;
}) {
  const { view, onDecide } = props;
  const { id: userId } = useAccount();
  const { session } = useSession();
  const [granted, setGranted] = useState<readonly TokenScope[]>(view.scopes);
  const [isMine, setMine] = useState(false);
  const [showsFault, setShowsFault] = useState(false);
  // Which button was pressed. A ref, because `submit` runs before the next render.
  const wanted = useRef<ApprovalDecision['decision']>('approve');

  const fault = faultOf(view, granted, isMine);
  const send = async (decided: ApprovalDecision): Promise<void> => {
    try {
      await onDecide(decided);
    } catch (thrown) {
      // Another user may have signed in: shows who is signed in now.
      if (hasCode(thrown, 'conflict')) await session.load();
      throw thrown;
    }
  };
  const { submit, isBusy, error } = useSubmit(async () => {
    if (wanted.current === 'deny') return send({ decision: 'deny', userId });
    setShowsFault(fault !== undefined);
    if (fault !== undefined) return;
    await send({ decision: 'approve', userId, scopes: granted });
  });
  const decide = (decision: ApprovalDecision['decision']) => (event?: Event) => {
    event?.preventDefault();
    if (!isBusy) wanted.current = decision; // The busy look stays on the button whose request is being sent.
    submit(event);
  };

  return (
    <form class="stack" onSubmit={decide('approve')}>
      <div class="compare">
        <p>
          {view.flow === 'device'
            ? 'Compare with the code in the terminal:' // which may be on another machine, or not be the user's
            : 'Compare with the code in your terminal:'}
        </p>
        <CompareCode code={view.userCode} />
        <p class="soft small">If the codes differ, or you didn’t start this, deny.</p>
      </div>
      <LoginDetails view={view} />
      <ScopeChoice
        asked={view.scopes}
        granted={granted}
        onChange={(scopes) => {
          setGranted(scopes);
          setShowsFault(false);
        }}
      />
      {view.flow === 'device' ? (
        <CheckboxField
          name="is-mine"
          label="I started this login, and the codes match"
          isChecked={isMine}
          onChange={(isChecked) => {
            setMine(isChecked);
            setShowsFault(false);
          }}
        />
      ) : null}
      <SignedInAs />
      {showsFault && fault !== undefined ? <Notice kind="failed" title={fault} /> : null}
      <ErrorView error={error} />
      <div class="choice">
        <Button type="submit" kind="quiet" isBusy={isBusy && wanted.current === 'approve'}>
          <Mark path="M3 8.5l3.5 3.5L13 4.5" /> Approve
        </Button>
        <Button kind="quiet" onClick={decide('deny')} isBusy={isBusy && wanted.current === 'deny'}>
          <Mark path="M4 4l8 8m0-8l-8 8" /> Deny
        </Button>
      </div>
    </form>
  );
}

/** Why the login can't be approved yet. */
function faultOf(view: AuthorizationView, granted: readonly TokenScope[], isMine: boolean): string | undefined {
  if (granted.length === 0) return 'Select at least one permission, or deny.';
  if (view.flow === 'device' && !isMine) return 'Confirm that you started this login, or deny.';
  return undefined;
}

function LoginDetails({ view }: { readonly view: AuthorizationView }) {
  const { client, deviceName, address, tokenLifetimeDays, requestedAt, flow } = view;
  return (
    <dl class="login-details">
      <div>
        <dt>Requested by</dt>
        <dd>{client.name}</dd>
      </div>
      {deviceName === null ? null : (
        <div>
          <dt>Device name</dt>
          <dd>
            “{deviceName}” <span class="soft small">(not verified)</span>
          </dd>
        </div>
      )}
      <div>
        <dt>From</dt>
        <dd>
          <code>{address}</code>
          {flow === 'loopback' ? <span class="soft small"> – this machine</span> : null}
        </dd>
      </div>
      {flow === 'device' ? (
        <div>
          <dt>Requested</dt>
          <dd>
            <Time at={requestedAt} />
          </dd>
        </div>
      ) : null}
      <div>
        <dt>Expires in</dt>
        <dd>
          {tokenLifetimeDays} days <span class="soft small">– you can revoke it earlier</span>
        </dd>
      </div>
    </dl>
  );
}

function Mark({ path }: { readonly path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
