import type { ExtensionPoint, Simulation, SimulationInput } from '@tenon/protocol';
import { isPluginName } from '@tenon/protocol/names';
import { maxSimulationBodyBytes } from '@tenon/protocol/simulation-limits';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { checkFixtures } from '../../components/fixtures-editor/check-fixtures.ts';
import { exampleFixtures, fixturesText, namesIn } from '../../components/fixtures-editor/example-fixtures.ts';
import { FixturesEditor } from '../../components/fixtures-editor/fixtures-editor.tsx';
import { LeaveDialog } from '../../components/leave-dialog.tsx';
import { RadioGroup } from '../../components/radio-group.tsx';
import { useApi, useSession } from '../../state/services.ts';
import { useDraft } from '../../state/use-draft.ts';
import { useNavigationGuard } from '../../state/use-navigation-guard.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { MockInputField } from './mock-input-field.tsx';
import { ModuleField } from './module-field.tsx';
import { inputOf, type ModulesDraft } from './stored-parts.ts';
import { TrialPanel } from './trial-panel.tsx';

/** Checks follow after a pause of this length in typing. */
const checkDelayMs = 200;

const kinds = [
  {
    value: 'fixtures',
    label: 'Fixtures',
    hint: 'A list of calls in JSON, each with its input and what must come out.',
  },
  {
    value: 'module',
    label: 'Test module',
    hint: 'A WebAssembly module whose test() function calls the plugin and asserts what comes back.',
  },
] as const;

/** Writes a simulation: fixtures in an editor, or modules as files. */
export function SimulationForm(props: {
  readonly point: ExtensionPoint;
  /** The path of the extension point in the API. */
  readonly apiPath: string;
  /** The simulation to change; a new one without. */
  readonly simulation?: Simulation;
  /** The names of the extension point's other simulations, for a new one. */
  readonly takenNames?: readonly string[];
  readonly cancelTo: string;
  readonly onSave: (name: string, input: SimulationInput) => Promise<void>;
}) {
  const { point, apiPath, simulation, takenNames = [], cancelTo } = props;
  const api = useApi();
  const { view } = useSession();
  const maxBytes = maxFileBytes(view.status === 'ready' ? view.maxModuleBytes : Number.POSITIVE_INFINITY);
  const names = useMemo(() => namesIn(point.schema), [point.schema]);
  const firstText = useMemo(() => fixturesText(simulation?.fixtures ?? exampleFixtures(point.schema)), []);
  const [name, setName] = useDraft(`simulation name ${cancelTo}`, simulation?.name ?? '');
  const [text, setText] = useDraft(`simulation fixtures ${cancelTo}`, firstText);
  const [kind, setKind] = useState<Simulation['kind']>(simulation?.kind ?? 'fixtures');
  const first = useMemo(() => draftOf(simulation), []);
  const [modules, setModules] = useState(first);
  const [checked, setChecked] = useState(() => checkFixtures(text, names));
  const [isSaved, setSaved] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setChecked(checkFixtures(text, names)), checkDelayMs);
    return () => clearTimeout(timer);
  }, [text, names]);

  const isEdited =
    name !== (simulation?.name ?? '') || text !== firstText || JSON.stringify(modules) !== JSON.stringify(first);
  const leaving = useNavigationGuard(!isSaved && (isEdited || modules.testModule !== first.testModule));
  const isComplete = kind === 'fixtures' ? checked.isSound : modules.testModule !== undefined;
  const input = async (): Promise<SimulationInput> => {
    const path = `${apiPath}/simulations/${encodeURIComponent(simulation?.name ?? '')}`;
    if (kind === 'module') return inputOf(api, path, modules);
    const fixtures = checkFixtures(text, names);
    if (!fixtures.isSound) throw new Error('The fixtures have errors.');
    return { fixtures: [...fixtures.fixtures] };
  };
  const saving = useSubmit(async () => {
    await props.onSave(name, await input());
    setSaved(true);
  }, ['name', 'fixtures', 'testModuleBase64', 'mockHostBase64', 'mockInput']);
  const { fieldError } = saving;
  const change = (part: Partial<typeof modules>): void => setModules((now) => ({ ...now, ...part }));

  return (
    <form onSubmit={saving.submit} class="stack simulation-form">
      {simulation === undefined ? (
        <TextField
          label="Name"
          name="name"
          value={name}
          onInput={setName}
          isCode
          maxLength={100}
          hasFocus
          error={fieldError('name') ?? nameFault(name, takenNames)}
          hint="Letters, digits, periods, hyphens and underscores. Visible to your guests."
        />
      ) : null}
      <RadioGroup legend="Kind" name="kind" options={kinds} value={kind} onChange={setKind} />
      {kind === 'fixtures' ? (
        <FixturesEditor
          initialText={text}
          names={names}
          onChange={setText}
          faults={checked.isSound ? [] : checked.faults}
          error={checked.isSound ? fieldError('fixtures') : undefined}
        />
      ) : (
        <ModuleField
          label="Test module"
          hint="Must export test()."
          choice={modules.testModule}
          storedBytes={simulation?.testModule?.size}
          maxBytes={maxBytes}
          mustExport="test"
          error={fieldError('testModuleBase64')}
          onChange={(testModule) => change({ testModule })}
        />
      )}
      {kind === 'module' ? (
        <ModuleField
          label="Mock host"
          hint="Exports the host functions that plugins import."
          isOptional
          choice={modules.mockHost}
          storedBytes={simulation?.mockHost?.size}
          maxBytes={maxBytes}
          error={fieldError('mockHostBase64')}
          onChange={(mockHost) => change({ mockHost })}
        />
      ) : null}
      {kind === 'module' ? (
        <MockInputField
          value={modules.mockInput}
          error={fieldError('mockInput')}
          onChange={(mockInput) => change({ mockInput })}
        />
      ) : null}
      <ErrorView error={saving.error} />
      <TrialPanel
        appId={point.appId}
        apiPath={apiPath}
        isDisabled={!isComplete}
        changeOf={async () => ({ name: isPluginName(name) ? name : 'draft', simulation: await input() })}
        state={`${kind} ${text}`}
      >
        <Button
          type="submit"
          isBusy={saving.isBusy}
          isDisabled={!isComplete || name === '' || nameFault(name, takenNames) !== undefined}
        >
          {simulation === undefined ? 'Create simulation' : 'Save'}
        </Button>
        <LinkButton kind="quiet" to={cancelTo}>
          Cancel
        </LinkButton>
      </TrialPanel>
      <LeaveDialog question={leaving} />
    </form>
  );
}

/** A simulation is sent as JSON with its modules in Base64, of which 4 bytes hold 3. */
function maxFileBytes(maxModuleBytes: number): number {
  return Math.floor((Math.min(maxModuleBytes, maxSimulationBodyBytes) * 3) / 4) - 1024;
}

const noModules = { testModule: undefined, mockHost: undefined, mockInput: undefined };

function draftOf(simulation: Simulation | undefined): ModulesDraft {
  if (simulation === undefined) return noModules;
  const { testModule, mockHost, mockInputBase64 } = simulation;
  return {
    testModule: testModule === null ? undefined : 'stored',
    mockHost: mockHost === null ? undefined : 'stored',
    mockInput: mockInputBase64 === null ? undefined : textOrBytes(mockInputBase64),
  };
}

/** Shows bytes as text if they are UTF-8. */
function textOrBytes(base64: string): SimulationInput['mockInput'] {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64 };
  }
}

function nameFault(name: string, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return 'is the name of another simulation of this extension point';
  if (name === '' || isPluginName(name)) return undefined;
  return 'must begin with a letter or digit, and have only letters, digits, ".", "_" and "-"';
}
