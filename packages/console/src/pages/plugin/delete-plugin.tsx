import type { Plugin } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Button } from '../../components/button.tsx';
import { counted } from '../../components/count.ts';
import { Section } from '../../components/page.tsx';
import { ActionDialog } from './action-dialog.tsx';
import type { GuestNames } from './effects.tsx';

/** Deletes a plugin with its whole history, once its name was typed. */
export function DeletePlugin(props: {
  readonly plugin: Plugin;
  readonly versions: number;
  readonly apiPath: string;
  readonly guests: GuestNames;
  readonly isHost: boolean;
  readonly listPath: string;
}) {
  const { plugin, versions, apiPath, guests, isHost, listPath } = props;
  const { route } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const isBlocked = plugin.status.state === 'blocked';
  const isHeld = isBlocked || plugin.status.bindings.some(({ isPinned }) => isPinned);
  return (
    <Section isBeside title="Delete plugin" intro="Permanently deletes the plugin with all its versions.">
      {isHeld && !isHost ? (
        <p class="soft">
          The team has {isBlocked ? 'blocked the plugin' : 'pinned one of its versions'}. Only the team can delete it.
        </p>
      ) : (
        <Button kind="danger" onClick={() => setOpen(true)}>
          Delete plugin…
        </Button>
      )}
      {isOpen ? (
        <ActionDialog
          words={{
            title: 'Delete plugin?',
            text: `Permanently deletes ${counted(versions, 'version')} with ${versions === 1 ? 'its' : 'their'} content. The name stays reserved for its publisher for 90 days.`,
            button: 'Delete plugin',
            done: `${plugin.name} deleted.`,
          }}
          action={{ method: 'DELETE', path: apiPath }}
          lastUseOf={apiPath}
          guests={guests}
          isDangerous
          typed={plugin.name}
          onDone={() => route(href(listPath), true)}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </Section>
  );
}
