import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** For a button that comes in place of the one that was pressed: the keyboard goes on here, unless it is somewhere else on the page. */
export function useLostFocus(): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
  }, []);
  return button;
}
