import type { Plugin } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { ActionDialog, type ActionDialogProps } from './action-dialog.tsx';

/** Lets the team block a plugin, or unblock it. */
export function BlockSection(
  props: Omit<ActionDialogProps, 'onClose'> & { readonly plugin: Plugin; readonly apiPath: string },
) {
  const [isOpen, setOpen] = useState(false);
  const isBlocked = props.plugin.status.state === 'blocked';
  const path = `${props.apiPath}/block`;
  const shared = { ...props, onClose: () => setOpen(false) };
  const verb = isBlocked ? 'Unblock' : 'Block';
  return (
    <Section
      isBeside
      title={`${verb} plugin`}
      intro={
        isBlocked
          ? 'Hosts receive no version of it, and no versions can be published.'
          : 'Hosts stop receiving it and no versions can be published until you unblock it.'
      }
    >
      <Button kind={isBlocked ? 'quiet' : 'danger'} onClick={() => setOpen(true)}>
        {verb} plugin …
      </Button>
      {!isOpen ? null : isBlocked ? (
        <ActionDialog
          {...shared}
          words={{
            title: 'Unblock plugin?',
            text: 'Hosts receive its versions again, and its publisher can publish.',
            button: 'Unblock plugin',
            done: 'Plugin unblocked.',
          }}
          action={{ method: 'DELETE', path }}
        />
      ) : (
        <ActionDialog
          {...shared}
          words={{
            title: 'Block plugin?',
            text: 'Hosts stop receiving it. Its publisher can neither publish a version nor delete it. Hosts that already have its content keep it.',
            button: 'Block plugin',
            done: 'Plugin blocked.',
          }}
          action={{ method: 'PUT', path }}
          reasonHint="The publisher will see this."
        />
      )}
    </Section>
  );
}
