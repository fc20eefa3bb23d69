import type { ListPage, Simulation } from '@tenon/protocol';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Loaded } from '../../components/loaded.tsx';
import { useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { ExtensionPointEditFrame } from '../team/extension-point-edit-frame.tsx';
import { useExtensionPointPath } from '../team/use-extension-point.ts';
import { whatSimulationsAre } from './simulation-words.ts';
import { simulationApiPath } from './stored-parts.ts';

/** Creates a simulation of an extension point. */
export function NewSimulationPage() {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { apiPath, pagePath } = useExtensionPointPath();
  // The editor is large.
  const code = useData(() => import('./simulation-form.tsx'), []);
  const others = useData(
    (signal) => session.api.get<ListPage<Simulation>>(`${apiPath}/simulations`, { signal }),
    [apiPath],
  );
  return (
    <ExtensionPointEditFrame titleOf={({ name }) => `New simulation of ${name}`}>
      {(point) => (
        <>
          <p class="intro">{whatSimulationsAre}</p>
          <Loaded of={code} lines={12}>
            {({ SimulationForm }) => (
              <Loaded of={others} lines={12}>
                {({ objects }) => (
                  <SimulationForm
                    point={point}
                    apiPath={apiPath}
                    takenNames={objects.map(({ name }) => name)}
                    cancelTo={pagePath}
                    onSave={async (name, input) => {
                      await session.api.put(simulationApiPath(apiPath, name), input);
                      toasts.show('Simulation created. It applies to new versions.');
                      route(href(pagePath), true);
                    }}
                  />
                )}
              </Loaded>
            )}
          </Loaded>
        </>
      )}
    </ExtensionPointEditFrame>
  );
}
