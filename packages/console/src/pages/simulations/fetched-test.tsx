import type { ListPage, SimulationRun, Version } from '@tenon/protocol';
import { saveBlob } from '../../api/save-blob.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { visibleLines } from './excerpt.tsx';
import { ReportList } from './report-view.tsx';
import { verdictBadges, verdictWords } from './verdict-words.ts';

export interface TestProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  readonly version: Pick<Version, 'number' | 'state' | 'verdict'>;
  /** What the version is called: "version 3 of median". */
  readonly of: string;
  /** The name of the file with the result, without its ending. */
  readonly fileName: string;
  /** Whether the user may run the simulations again. */
  readonly mayRun: boolean;
  /** Whether it is open at first, if the version has not passed. */
  readonly isOpen: boolean;
  /** For the publisher: what the command line needs to run the same. */
  readonly extensionPointId?: string | undefined;
  readonly onChanged: () => void;
}

/** The last run of a version's simulations, with what can be done about it. */
export function FetchedTest(props: TestProps) {
  const { versionPath, version, of, mayRun } = props;
  const api = useApi();
  const path = `${versionPath}/simulation-runs`;
  const runs = useCachedData(path, (signal) => api.get<ListPage<SimulationRun>>(path, { query: { limit: 1 }, signal }));
  const again = useSubmit(async () => {
    await api.post(path, {});
    runs.reload();
    props.onChanged();
  });
  const download = useSubmit(async () => {
    const response = await api.send('GET', `${versionPath}/test-result`);
    saveBlob(await response.blob(), `${props.fileName}.intoto.json`);
  });
  return (
    <div class="stack">
      <Loaded of={runs}>
        {({ objects: [run] }) => (
          <>
            {run === undefined ? (
              <p class="soft">
                {version.verdict === 'none_configured'
                  ? 'The extension point had no simulations when this version was published.'
                  : 'No run yet.'}
              </p>
            ) : (
              <>
                <RunHead run={run} />
                <NextStep run={run} {...props} />
                <ReportList reports={run.simulations} />
              </>
            )}
            <div class="actions">
              {mayRun ? (
                <Button
                  kind="quiet"
                  isSmall
                  isBusy={again.isBusy}
                  isDisabled={run !== undefined && run.state !== 'done' && run.verdict !== 'errored'}
                  label={`Run again: simulations of ${of}`}
                  onClick={again.submit}
                >
                  Run again
                </Button>
              ) : null}
              {run?.state === 'done' && run.verdict !== 'none_configured' ? (
                <Button
                  kind="quiet"
                  isSmall
                  isBusy={download.isBusy}
                  label={`Download test result of ${of}`}
                  onClick={() => void download.submit()}
                >
                  Download test result
                </Button>
              ) : null}
            </div>
          </>
        )}
      </Loaded>
      <ErrorView error={again.error ?? download.error} />
    </div>
  );
}

/** When the simulations ran, and how often they were tried. */
function RunHead({ run }: { readonly run: SimulationRun }) {
  const { state, verdict, attempts, startedAt, endedAt, nextAttemptAt, detail } = run;
  const shown = state === 'done' || verdict === 'errored' ? (verdict ?? 'testing') : 'testing';
  const at = endedAt ?? startedAt;
  return (
    <div role="status">
      <p>
        <Badge kind={verdictBadges[shown]}>{verdictWords[shown]}</Badge>{' '}
        <span class="soft small">
          {at === null ? 'waiting for a runner' : <Time at={at} />}
          {attempts > 1 ? ` · attempt ${attempts}` : null}
          {nextAttemptAt === null || verdict !== 'errored' ? null : (
            <>
              {' · next attempt '}
              <Time at={nextAttemptAt} />
            </>
          )}
        </span>
      </p>
      {detail === null ? null : <p>{visibleLines(detail)}</p>}
    </div>
  );
}

/** What the publisher can do about a version that did not pass. */
function NextStep({ run, extensionPointId }: { readonly run: SimulationRun } & Pick<TestProps, 'extensionPointId'>) {
  if (extensionPointId === undefined) return null;
  if (run.verdict === 'errored') {
    return (
      <Notice title="Your plugin was not tested">
        <p>The server could not run the simulations. It tries again; you don’t need to do anything.</p>
      </Notice>
    );
  }
  if (run.verdict !== 'failed' && run.verdict !== 'timed_out') return null;
  return (
    <Notice kind="warning" title="Hosts don’t get this version">
      <p>
        Run <code>tenon plugin test plugin.wasm --extension-point {extensionPointId}</code> on your computer, fix the
        plugin, and publish it again.
      </p>
    </Notice>
  );
}
