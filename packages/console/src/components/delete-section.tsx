import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { Button } from './button.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { Section } from './page.tsx';
import { LastUse } from './usage/last-use.tsx';

/** The section that deletes a page's resource. */
export function DeleteSection(props: {
  /** Titles the section and the dialog, and labels their buttons: "Delete application". */
  readonly title: string;
  readonly intro: string;
  /** The dialog's text. */
  readonly children: ComponentChildren;
  readonly apiPath: string;
  /** Whether hosts use the resource: then the dialog shows when one last did. */
  readonly isUsedByHosts?: boolean;
  readonly done: string;
  readonly typed?: string;
  /** The page to show afterwards. */
  readonly next: string;
}) {
  const { title, next } = props;
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  return (
    <Section isBeside title={title} intro={props.intro}>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {title}…
      </Button>
      {isAsking ? (
        <DeleteDialog
          title={`${title}?`}
          action={title}
          apiPath={props.apiPath}
          done={props.done}
          typed={props.typed}
          onDone={() => route(href(next), true)}
          onClose={() => setAsking(false)}
        >
          {props.children}
          {props.isUsedByHosts ? <LastUse apiPath={props.apiPath} /> : null}
        </DeleteDialog>
      ) : null}
    </Section>
  );
}
