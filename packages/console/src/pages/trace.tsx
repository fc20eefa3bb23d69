import { visible } from '@tenon/trace/unsafe-characters';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { Button } from '../components/button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Spinner } from '../components/spinner.tsx';
import { tracePath } from '../state/trace-path.ts';
import { type ModuleSource, useModule } from './trace/inspect/use-module.ts';
import './trace/trace.css';

const loadWorkbench = async () => (await import('./trace/workbench.tsx')).Workbench;

/** The plugin's module that the URL names. */
function sourceOf({ content, name }: Readonly<Record<string, string>>): ModuleSource | undefined {
  return content === undefined
    ? undefined
    : { contentAddress: content, fileName: visible((name ?? 'module.wasm').slice(0, 100)) };
}

/** Instruments and runs a module in the browser. */
export function TracePage() {
  const { query, route } = useLocation();
  const source = sourceOf(query);
  const { state, open, close } = useModule(loadWorkbench, source);
  const closeModule = (): void => {
    close();
    if (source !== undefined) route(href(tracePath), true);
  };
  return (
    <Page
      title="Trace a module"
      intro="Inspect a WebAssembly module, run it, and see where its time goes. Everything stays in your browser."
    >
      <div class="section">
        {state.name === 'open' ? (
          <state.View key={state.loaded.inspector} loaded={state.loaded} onOther={closeModule} />
        ) : (
          <div class="stack trace-start">
            {state.name === 'empty' && state.fault !== undefined ? (
              <Notice kind="failed" title="Couldn’t open the module">
                <p>{state.fault}</p>
              </Notice>
            ) : null}
            <DropZone
              label="Drop a .wasm file here"
              accept=".wasm,application/wasm"
              hint="Any core module; no source needed."
              isDisabled={state.name === 'opening'}
              onFiles={open}
            />
            {state.name === 'opening' ? (
              <div class="actions">
                <Spinner label={`Opening ${state.fileName}…`} />
                <Button kind="quiet" isSmall onClick={closeModule}>
                  Stop
                </Button>
              </div>
            ) : null}
          </div>
        )}
      </div>
    </Page>
  );
}
