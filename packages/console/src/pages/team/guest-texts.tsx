import type { Guest } from '@tenon/protocol';
import { maxReasonLength } from '@tenon/protocol/names';
import { useState } from 'preact/hooks';
import { ConflictDialog } from '../../components/conflict-dialog.tsx';
import { TextAreaField, TextField } from '../../components/field.tsx';
import { Section } from '../../components/page.tsx';
import { SubmitRow } from '../../components/submit-row.tsx';
import { useServices } from '../../state/services.ts';
import { type EditedField, useEdit } from '../../state/use-edit.ts';
import { type Submit, useSubmit } from '../../state/use-submit.ts';

/** The team's texts about a guest, as a form has them: `''` for none. */
export interface GuestTexts {
  readonly label: string;
  readonly note: string;
}

export const noGuestTexts: GuestTexts = { label: '', note: '' };

/** The texts, with the ring of roll-outs. */
interface EditedGuest extends GuestTexts {
  readonly ring: string;
}

type Texts = Pick<Guest, 'label' | 'note' | 'ring'>;

function textsOf({ label, note, ring }: Texts): EditedGuest {
  return { label: label ?? '', note: note ?? '', ring: ring ?? '' };
}

const fieldsOf = (guest: Texts): readonly EditedField[] => editedFields(textsOf(guest));

function editedFields({ label, note, ring }: EditedGuest): readonly EditedField[] {
  return [
    { label: 'Label', text: label },
    { label: 'Note', text: note },
    { label: 'Ring', text: ring },
  ];
}

/** The fields of a guest's label and note. */
export function GuestTextFields(props: {
  readonly texts: GuestTexts;
  readonly form: Submit;
  readonly onChange: (texts: GuestTexts) => void;
}) {
  const { texts, form, onChange } = props;
  return (
    <>
      <TextField
        label="Label"
        name="label"
        value={texts.label}
        onInput={(label) => onChange({ ...texts, label })}
        isRequired={false}
        maxLength={200}
        placeholder="Globex"
        error={form.fieldError('label')}
        hint="Guests see it. It distinguishes your customers for a person who is a guest of several."
      />
      <TextAreaField
        label="Note"
        name="note"
        rows={2}
        value={texts.note}
        onInput={(note) => onChange({ ...texts, note })}
        isRequired={false}
        maxLength={maxReasonLength}
        error={form.fieldError('note')}
        hint="Only your team sees it."
      />
    </>
  );
}

/** Edits a guest's label, note, and ring. */
export function GuestTextsSection(props: {
  readonly apiPath: string;
  readonly guest: Guest;
  readonly onSaved: (guest: Guest) => void;
}) {
  const { apiPath, guest, onSaved } = props;
  const { session, toasts } = useServices();
  const [texts, setTexts] = useState(textsOf(guest));
  const edit = useEdit(guest, () => session.api.get<Guest>(apiPath), fieldsOf);
  const first = textsOf(edit.base);
  const form = useSubmit(async () => {
    const change = Object.entries(texts)
      .filter(([name, text]) => text !== first[name as keyof EditedGuest])
      .map(([name, text]) => [name, text.trim() === '' ? null : text]);
    const body = Object.fromEntries(change);
    onSaved(await edit.save((basedOn) => session.api.put<Guest>(apiPath, body, { basedOn })));
    toasts.show('Saved.');
  }, ['label', 'note', 'ring']);
  const keep = (): void => {
    if (edit.conflict === undefined) return;
    const now = textsOf(edit.conflict.now);
    setTexts({
      label: texts.label === first.label ? now.label : texts.label,
      note: texts.note === first.note ? now.note : texts.note,
      ring: texts.ring === first.ring ? now.ring : texts.ring,
    });
    edit.rebase();
  };
  return (
    <Section
      isBeside
      title="Label, note, and ring"
      intro="The label is for the guest’s users, the note and the ring for your team."
    >
      <form onSubmit={form.submit} class="form-narrow">
        <GuestTextFields texts={texts} form={form} onChange={(changed) => setTexts({ ...texts, ...changed })} />
        <TextField
          label="Ring"
          name="ring"
          value={texts.ring}
          onInput={(ring) => setTexts({ ...texts, ring })}
          isRequired={false}
          isCode
          maxLength={40}
          placeholder="staff"
          error={form.fieldError('ring')}
          hint="Steps of roll-outs name rings, such as staff or early. Guests never see it."
        />
        <SubmitRow
          form={form}
          action="Save"
          kind="quiet"
          isDisabled={texts.label === first.label && texts.note === first.note && texts.ring === first.ring}
        />
      </form>
      <ConflictDialog
        conflict={edit.conflict}
        fieldsOf={fieldsOf}
        mine={editedFields(texts)}
        onKeep={keep}
        onDiscard={() => {
          if (edit.conflict !== undefined) onSaved(edit.conflict.now);
        }}
      />
    </Section>
  );
}
