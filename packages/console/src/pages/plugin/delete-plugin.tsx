import type { Plugin } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Section } from '../../components/page.tsx';
import { useServices } from '../../state/services.ts';
import type { PluginModel } from './plugin-model.ts';

/** Deletes a plugin with its whole history, once its name was typed. */
export function DeletePlugin(props: {
  readonly plugin: Plugin;
  readonly model: PluginModel;
  readonly versions: number;
  readonly apiPath: string;
  readonly isHost: boolean;
  readonly listPath: string;
}) {
  const { plugin, model, versions, apiPath, isHost, listPath } = props;
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  const isHeld = model.isBlocked || model.claims.some(({ pinnedTo }) => pinnedTo !== null);
  return (
    <Section isBeside title="Delete the plugin" intro="With all of its versions, at once and for good.">
      {isHeld && !isHost ? (
        <p class="soft">
          The team has {model.isBlocked ? 'blocked it' : 'pinned one of its versions'}. Only the team can delete it
          meanwhile.
        </p>
      ) : (
        <Button kind="danger" onClick={() => setAsking(true)}>
          Delete the plugin …
        </Button>
      )}
      {isAsking ? (
        <ConfirmDialog
          title="Delete the plugin?"
          action="Delete the plugin"
          typed={plugin.name}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await session.api.delete(apiPath);
            route(href(listPath), true);
            toasts.show(`${plugin.name} is deleted.`);
          }}
        >
          <p>
            {versions === 1 ? 'Its one version goes' : `All ${versions} versions go`} with it. Programs that ask for it
            get nothing, and its bytes can’t be fetched any more. The name is free for a new plugin.
          </p>
        </ConfirmDialog>
      ) : null}
    </Section>
  );
}
