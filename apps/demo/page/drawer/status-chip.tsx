import { type VNode } from 'preact';

/** Renders the status of a reply in the colour of its class. */
export function StatusChip({ status, text }: { readonly status: number; readonly text: string }): VNode {
  return (
    <span class="chip" data-class={String(status).charAt(0)}>
      {text}
    </span>
  );
}
