import type { Plugin } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { ReasonDialog } from '../../components/reason-dialog.tsx';
import { useServices } from '../../state/services.ts';
import { Effects } from './effects.tsx';
import type { PluginModel } from './plugin-model.ts';

/** The team's way to stop a plugin, and to take that back. */
export function BlockSection(props: {
  readonly plugin: Plugin;
  readonly model: PluginModel;
  readonly apiPath: string;
  readonly guests: ReadonlyMap<string, string>;
  readonly onDone: () => void;
}) {
  const { plugin, model, apiPath, guests, onDone } = props;
  const { session, toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const isBlocked = plugin.status.state === 'blocked';
  const close = (): void => setAsking(false);
  const path = `${apiPath}/block`;
  return (
    <Section
      isBeside
      title={isBlocked ? 'Unblock the plugin' : 'Block the plugin'}
      intro={
        isBlocked
          ? 'It is bound nowhere and takes no version until then.'
          : 'It is bound nowhere then and takes no version, until you unblock it.'
      }
    >
      <Button kind={isBlocked ? 'quiet' : 'danger'} onClick={() => setAsking(true)}>
        {isBlocked ? 'Unblock the plugin …' : 'Block the plugin …'}
      </Button>
      {!isAsking ? null : isBlocked ? (
        <ConfirmDialog
          title="Unblock the plugin?"
          action="Unblock the plugin"
          isDangerous={false}
          onClose={close}
          onConfirm={async () => {
            await session.api.delete(path);
            close();
            toasts.show('The plugin is blocked no more.');
            onDone();
          }}
        >
          <p>Its publisher can publish again, and what is to be bound is bound again.</p>
          <Effects model={model} change={{ kind: 'unblock' }} guests={guests} />
        </ConfirmDialog>
      ) : (
        <ReasonDialog
          title="Block the plugin?"
          action="Block the plugin"
          hint="Who publishes it reads this."
          onClose={close}
          onConfirm={async (reason) => {
            await session.api.put(path, { reason });
            close();
            toasts.show('The plugin is blocked.');
            onDone();
          }}
        >
          <p>
            No program is told of it any more, and its publisher can neither publish a version nor delete it. Programs
            that have its bytes already keep them.
          </p>
          <Effects model={model} change={{ kind: 'block' }} guests={guests} />
        </ReasonDialog>
      )}
    </Section>
  );
}
