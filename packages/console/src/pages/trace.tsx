import { Button } from '../components/button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Spinner } from '../components/spinner.tsx';
import { Bench } from './trace/bench.tsx';
import { useModule } from './trace/look/use-module.ts';
import './trace/trace.css';

/** Instruments and runs a module, in this browser alone. */
export function TracePage() {
  const { state, open, close } = useModule();
  return (
    <Page
      title="Trace a module"
      intro="See what a WebAssembly module is made of, run it, and look at where its time goes. Nothing of it leaves this browser."
    >
      <div class="section">
        {state.name === 'open' ? (
          <Bench key={state.subject.looker} subject={state.subject} onOther={close} />
        ) : (
          <div class="stack trace-start">
            {state.name === 'empty' && state.fault !== undefined ? (
              <Notice kind="failed" title="This file can’t be looked at">
                <p>{state.fault}</p>
              </Notice>
            ) : null}
            <DropZone
              label="Drop a .wasm file here"
              accept=".wasm,application/wasm"
              hint="A core module of any compiler. Its source is not needed."
              isDisabled={state.name === 'looking'}
              onFiles={open}
            />
            {state.name === 'looking' ? (
              <div class="actions">
                <Spinner label={`Looking at ${state.fileName} …`} />
                <Button kind="quiet" isSmall onClick={close}>
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
