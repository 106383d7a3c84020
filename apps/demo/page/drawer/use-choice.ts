import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../console/console-api.js';

/**
 * Returns a setting of the server, a function that changes it, and the last failure. A change is shown at
 * once, until the server reports its setting.
 */
export function useChoice<T>(
  reported: T,
  put: (choice: T) => Promise<void>,
): readonly [T, (choice: T) => void, string | undefined] {
  const [pending, setPending] = useState<T>();
  const [failure, setFailure] = useState<string>();
  const key = JSON.stringify(reported);
  useEffect(() => setPending(undefined), [key]);
  const choose = (choice: T) => {
    setFailure(undefined);
    setPending(() => choice);
    put(choice).catch((error: unknown) => {
      setPending(undefined);
      setFailure(messageOf(error));
    });
  };
  return [pending ?? reported, choose, failure];
}
