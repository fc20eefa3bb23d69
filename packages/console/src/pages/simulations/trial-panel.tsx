import type { SimulationTrial, SimulationTrialInput } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { count, counted } from '../../components/count.ts';
import { ErrorView } from '../../components/error-view.tsx';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { Spinner } from '../../components/spinner.tsx';
import { useApi } from '../../state/services.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { ReportList } from './report-view.tsx';
import { verdictBadges, verdictWords } from './verdict-words.ts';

/** The buttons of a form that changes what versions are tested with: also one that tries the change against the active versions. */
export function TrialPanel(props: {
  readonly appId: string;
  /** The extension point's path in the API. */
  readonly apiPath: string;
  readonly isDisabled?: boolean;
  /** The change that the form holds. */
  readonly changeOf: () => Promise<SimulationTrialInput>;
  /** Changes with the form: the result of another state is not shown. */
  readonly state: unknown;
  /** The text of the button. */
  readonly action?: string;
  /** The other buttons. */
  readonly children?: ComponentChildren;
}) {
  const { appId, apiPath, isDisabled = false, changeOf, state, children } = props;
  const api = useApi();
  const [tried, setTried] = useState<{ readonly state: unknown; readonly trial: SimulationTrial }>();
  const trying = useSubmit(async () => {
    setTried(undefined);
    const change = await changeOf();
    // A request tries some of the versions.
    for (let cursor: string | undefined, objects: SimulationTrial['objects'] = []; ; ) {
      const part = await api.post<SimulationTrial>(`${apiPath}/simulations/trial`, change, { query: { cursor } });
      objects = [...objects, ...part.objects];
      cursor = part.nextCursor;
      setTried({ state, trial: { ...part, objects } });
      if (cursor === undefined) break;
    }
  });
  return (
    <>
      <div class="actions">
        {children}
        <Button kind="quiet" isBusy={trying.isBusy} isDisabled={isDisabled} onClick={trying.submit}>
          {props.action ?? 'Try against active versions'}
        </Button>
      </div>
      <ErrorView error={trying.error} />
      <div role="status" class="stack">
        {trying.isBusy ? <Spinner label={progressWords(tried?.trial.objects.length ?? 0)} /> : null}
        {tried !== undefined && tried.state === state && !trying.isBusy ? (
          <TrialResult appId={appId} trial={tried.trial} />
        ) : null}
      </div>
    </>
  );
}

function progressWords(done: number): string {
  return done === 0 ? 'Testing the active versions…' : `Testing the active versions: ${count(done)} done…`;
}

/** The number of failed versions whose results are open at first. */
const openAtFirst = 3;

/** What the change would mean for the active versions. Nothing was changed. */
export function TrialResult({ appId, trial }: { readonly appId: string; readonly trial: SimulationTrial }) {
  const tested = trial.objects.filter(({ verdict }) => verdict !== 'none_configured');
  const bad = tested.filter(({ verdict }) => verdict !== 'passed');
  const good = tested.filter(({ verdict }) => verdict === 'passed');
  return (
    <Notice kind={bad.length === 0 ? 'done' : 'warning'} title={trialWords(trial, bad.length)}>
      {trial.isCut ? <p>There are more active versions, which were not tried.</p> : null}
      {bad.length === 0 ? null : (
        <p>Saving changes no active version. It applies to versions that are published from then on.</p>
      )}
      <ul class="sim-trial">
        {[...bad, ...good].map((version, at) => (
          <li key={`${version.pluginId} ${version.version}`}>
            <Tried appId={appId} tried={version} isOpen={at < Math.min(bad.length, openAtFirst)} />
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function trialWords({ objects }: SimulationTrial, bad: number): string {
  const all = objects.length;
  if (all === 0) return 'No version is active here yet.';
  if (objects.every(({ verdict }) => verdict === 'none_configured')) return 'The extension point has no simulations.';
  if (bad === 0) return all === 1 ? 'The only active version passes.' : `All ${all} active versions pass.`;
  return `${bad} of ${counted(all, 'active version')} would not pass.`;
}

interface TriedProps {
  readonly appId: string;
  readonly tried: SimulationTrial['objects'][number];
  readonly isOpen: boolean;
}

function Tried({ appId, tried, isOpen }: TriedProps) {
  const { pluginId, name, version, userName, verdict, detail, simulations } = tried;
  return (
    <>
      <p class="sim-head">
        <span>
          <Link to={teamPluginPath(appId, pluginId)}>
            <code>{visible(name)}</code>
          </Link>{' '}
          version {version} by {userName}
        </span>
        <Badge kind={verdictBadges[verdict]}>{verdictWords[verdict]}</Badge>
      </p>
      {detail === null ? null : <p class="small">{visible(detail)}</p>}
      <details open={isOpen}>
        <summary class="small">
          Results<span class="visually-hidden"> of {visible(name)}</span>
        </summary>
        <ReportList reports={simulations} />
      </details>
    </>
  );
}
