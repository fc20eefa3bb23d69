import type { RollOut } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { ReportsView } from './reports-view.tsx';
import { RollOutDialog } from './roll-out-dialog.tsx';
import type { RollOutProps } from './roll-out-props.ts';
import {
  exceptPinned,
  previousInWords,
  type RollOutAction,
  rollOutActions,
  rollOutStates,
  shareInWords,
  stepInWords,
} from './roll-out-words.ts';
import { StepsBar } from './steps-bar.tsx';
import './roll-outs.css';

/** A roll-out with its steps, share, reports, and actions. */
export function RollOutPanel(props: RollOutProps) {
  const api = useApi();
  const path = `${props.versionPath}/roll-out`;
  const rollOut = useCachedData(path, (signal) => api.get<RollOut>(path, { signal }));
  return (
    <Loaded of={rollOut}>{(data) => <Panel {...props} rollOut={data} apiPath={path} reload={rollOut.reload} />}</Loaded>
  );
}

function Panel(
  props: RollOutProps & { readonly rollOut: RollOut; readonly apiPath: string; readonly reload: () => void },
) {
  const { rollOut, apiPath, roles, isMember, guests } = props;
  const [action, setAction] = useState<RollOutAction>();
  const { state } = rollOut;
  return (
    <div class="roll-out-panel">
      <p class="roll-out-facts">
        <Badge kind={rollOutStates[state].kind}>{rollOutStates[state].word}</Badge>
        {rollOut.steps === 0 ? null : <span>{stepInWords(rollOut)}</span>}
        <span>
          <strong>{shareInWords(rollOut)}</strong> {rollOut.totalGuests === 1 ? 'has' : 'have'} it
        </span>
      </p>
      <StepsBar {...rollOut} />
      <Situation rollOut={rollOut} />
      {roles.isHost ? (
        <div class="actions">
          {rollOutActions(rollOut).map((one, at) => (
            <Button
              key={one}
              kind={one === 'abort' ? 'danger' : at === 0 ? 'primary' : 'quiet'}
              isSmall
              onClick={() => setAction(one)}
            >
              {buttonWords[one]}
            </Button>
          ))}
        </div>
      ) : null}
      {isMember && state !== 'planned' ? <ReportsView path={`${apiPath}/reports`} rollOut={rollOut} /> : null}
      {action === undefined ? null : (
        <RollOutDialog
          action={action}
          rollOut={rollOut}
          apiPath={apiPath}
          guests={guests}
          isPublishedByOther={!roles.isPublisher}
          onDone={() => {
            props.reload();
            props.onChanged();
          }}
          onClose={() => setAction(undefined)}
        />
      )}
    </div>
  );
}

const buttonWords: Readonly<Record<RollOutAction, string>> = {
  promote: 'Promote…',
  promoteToAll: 'Promote to all guests…',
  pause: 'Pause…',
  resume: 'Resume…',
  abort: 'Abort…',
};

/** What the state means for guests, and what happens next. */
function Situation({ rollOut }: { readonly rollOut: RollOut }) {
  const { state, reason, endedAt } = rollOut;
  const previous = previousInWords(rollOut);
  const words = situations(rollOut, previous);
  const isNotice = state === 'halted' || state === 'aborted';
  const content = (
    <>
      <p>{words}</p>
      {reason === null ? null : <blockquote>{reason}</blockquote>}
    </>
  );
  if (!isNotice) return <div class="stack">{content}</div>;
  return (
    <Notice kind="warning" title={state === 'halted' ? 'Halted by the reports of hosts' : 'Aborted'}>
      {content}
      {endedAt === null ? null : (
        <p class="soft small">
          <Time at={endedAt} />
        </p>
      )}
    </Notice>
  );
}

function situations(rollOut: RollOut, previous: string): ComponentChildren {
  const { state, nextStepAt, waitsForReports, endedAt } = rollOut;
  switch (state) {
    case 'planned':
      return 'It starts when the version has its minimum age.';
    case 'running':
      if (waitsForReports !== null && (nextStepAt === null || Date.parse(nextStepAt) <= Date.now())) {
        const { calls, minCalls } = waitsForReports;
        return `The next step waits for reports: ${calls} of ${minCalls} calls.`;
      }
      if (nextStepAt === null) return `The other guests keep ${previous}, until a member promotes the version.`;
      return (
        <>
          The other guests keep {previous}. The step ends <Time at={nextStepAt} />.
        </>
      );
    case 'paused':
      return `Guests keep the version that they have. The other guests keep ${previous}.`;
    case 'halted':
      return `All guests are back on ${previous}${exceptPinned(rollOut)}.`;
    case 'completed':
      return (
        <>
          All guests got it <Time at={endedAt} />.
        </>
      );
    case 'aborted':
      return `All guests got ${previous}.`;
    case 'superseded':
      return 'A newer version reached all guests.';
  }
}
