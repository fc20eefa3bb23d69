import type { ListPage, Simulation } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Button, LinkButton } from '../../components/button.tsx';
import { Link } from '../../components/link.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useApi, useToast } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { partsOf, whatSimulationsAre } from './simulation-words.ts';
import { saveFixtures, saveModule, simulationApiPath } from './stored-parts.ts';

/** The simulations of an extension point, each with its download. */
export function SimulationsSection(props: {
  /** The extension point's path in the API. */
  readonly apiPath: string;
  /** The path of the extension point's page, for the team. */
  readonly pagePath?: string;
  readonly mayChange?: boolean;
  /** What follows the list. */
  readonly children?: ComponentChildren;
}) {
  const { apiPath, pagePath, mayChange = false } = props;
  const api = useApi();
  const path = `${apiPath}/simulations`;
  const simulations = useCachedData(path, (signal) => api.get<ListPage<Simulation>>(path, { signal }));
  const isEmpty = simulations.status === 'ready' && simulations.data.objects.length === 0;
  const start = mayChange ? (
    <LinkButton kind="quiet" isSmall to={`${pagePath}/new-simulation`}>
      New simulation
    </LinkButton>
  ) : undefined;
  return (
    <Section
      title="Simulations"
      intro={isEmpty ? `No simulations. ${whatSimulationsAre}` : whatSimulationsAre}
      actions={start}
    >
      <Loaded of={simulations}>
        {({ objects }) =>
          isEmpty ? null : (
            <Table
              caption="Simulations"
              rows={objects}
              rowKey={({ id }) => id}
              columns={[
                {
                  header: 'Name',
                  cell: ({ name }) =>
                    pagePath === undefined ? (
                      <code>{name}</code>
                    ) : (
                      <Link to={`${pagePath}/simulations/${name}`}>
                        <code>{name}</code>
                      </Link>
                    ),
                },
                { header: 'Consists of', cell: partsOf },
                { header: 'Revision', cell: ({ revision }) => revision },
                { header: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                {
                  header: 'Actions',
                  isActions: true,
                  cell: (simulation) => <Downloads apiPath={apiPath} simulation={simulation} />,
                },
              ]}
            />
          )
        }
      </Loaded>
      {isEmpty ? null : props.children}
    </Section>
  );
}

/** Buttons that save the parts of a simulation. */
export function Downloads({ apiPath, simulation }: { readonly apiPath: string; readonly simulation: Simulation }) {
  const { name, fixtures, testModule, mockHost } = simulation;
  const path = simulationApiPath(apiPath, name);
  const api = useApi();
  return (
    <span class="actions">
      {fixtures === null ? null : (
        <SaveButton label={`Download the fixtures of ${name}`} onSave={async () => saveFixtures(simulation)}>
          Download
        </SaveButton>
      )}
      {testModule === null ? null : (
        <SaveButton
          label={`Download the test module of ${name}`}
          onSave={() => saveModule(api, path, simulation, 'test-module')}
        >
          Download
        </SaveButton>
      )}
      {mockHost === null ? null : (
        <SaveButton
          label={`Download the mock host of ${name}`}
          onSave={() => saveModule(api, path, simulation, 'mock-host')}
        >
          Mock host
        </SaveButton>
      )}
    </span>
  );
}

function SaveButton(props: {
  readonly label: string;
  readonly onSave: () => Promise<void>;
  readonly children: ComponentChildren;
}) {
  const toast = useToast();
  const { submit, isBusy } = useSubmit(() =>
    props.onSave().catch((error: Error) => {
      toast(error.message, 'failed');
    }),
  );
  return (
    <Button kind="quiet" isSmall isBusy={isBusy} label={props.label} onClick={submit}>
      {props.children}
    </Button>
  );
}
