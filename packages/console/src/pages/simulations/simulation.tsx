import type { App, ExtensionPoint, Simulation } from '@tenon/protocol';
import { useLocation, useRoute } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { DeleteSection } from '../../components/delete-section.tsx';
import { fixturesText } from '../../components/fixtures-editor/example-fixtures.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useApi, useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { AppPageFrame } from '../team/app-frame.tsx';
import { mayManage, useApp } from '../team/use-app.ts';
import { useExtensionPointPath } from '../team/use-extension-point.ts';
import { partsOf } from './simulation-words.ts';
import { Downloads } from './simulations-section.tsx';
import { simulationApiPath } from './stored-parts.ts';

/** A simulation: its editor for those who may change it, else its content. */
export function SimulationPage() {
  const api = useApi();
  const { app } = useApp();
  const { name = '' } = useRoute().params;
  const { apiPath, pagePath } = useExtensionPointPath();
  const point = useData((signal) => api.get<ExtensionPoint>(apiPath, { signal }), [apiPath]);
  const path = simulationApiPath(apiPath, name);
  // Not cached: the user edits the current state.
  const simulation = useData((signal) => api.get<Simulation>(path, { signal }), [path]);
  return (
    <AppPageFrame
      app={app}
      thing={simulation}
      part={{ label: point.status === 'ready' ? point.data.name : 'Extension point', to: pagePath }}
      kind="Simulation"
      titleOf={(data) => data.name}
    >
      {(data, { role }: App) => (
        <>
          <Facts apiPath={apiPath} simulation={data} />
          {mayManage(role) ? (
            <Loaded of={point}>{(loaded) => <Edit key={data.id} point={loaded} simulation={data} />}</Loaded>
          ) : (
            <Content simulation={data} />
          )}
        </>
      )}
    </AppPageFrame>
  );
}

function Facts({ apiPath, simulation }: { readonly apiPath: string; readonly simulation: Simulation }) {
  return (
    <dl class="facts">
      <div>
        <dt>Consists of</dt>
        <dd>{partsOf(simulation)}</dd>
      </div>
      <div>
        <dt>Revision</dt>
        <dd>{simulation.revision}</dd>
      </div>
      <div>
        <dt>Changed</dt>
        <dd>
          <Time at={simulation.updatedAt} />
        </dd>
      </div>
      <div>
        <dt>Files</dt>
        <dd>
          <Downloads apiPath={apiPath} simulation={simulation} />
        </dd>
      </div>
    </dl>
  );
}

function Content({ simulation: { fixtures } }: { readonly simulation: Simulation }) {
  if (fixtures === null) return null;
  return (
    <Section title="Fixtures">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre class="simulation-fixtures" tabIndex={0}>
        {fixturesText(fixtures)}
      </pre>
    </Section>
  );
}

function Edit({ point, simulation }: { readonly point: ExtensionPoint; readonly simulation: Simulation }) {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { apiPath, pagePath } = useExtensionPointPath();
  const path = simulationApiPath(apiPath, simulation.name);
  // The editor is large.
  const form = useData(() => import('./simulation-form.tsx'), []);
  return (
    <>
      <Loaded of={form} lines={12}>
        {({ SimulationForm }) => (
          <SimulationForm
            point={point}
            apiPath={apiPath}
            simulation={simulation}
            cancelTo={pagePath}
            onSave={async (_, input) => {
              await session.api.put(path, input, { basedOn: simulation });
              toasts.show('Saved. It applies to new versions.');
              route(href(pagePath), true);
            }}
          />
        )}
      </Loaded>
      <DeleteSection
        title="Delete simulation"
        intro="New versions no longer have to pass it. Versions that were tested keep their results."
        apiPath={path}
        next={pagePath}
        done="Simulation deleted."
      >
        <p>New versions no longer have to pass {simulation.name}. Versions that were tested keep their results.</p>
      </DeleteSection>
    </>
  );
}
