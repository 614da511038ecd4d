import { useEffect } from "react";

type Step = (() => void) | null;

/** Which step a key press means: Ctrl or ⌘ with Z, with Shift for redo; Ctrl+Y also redoes. */
export function stepOf(
	event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
): "undo" | "redo" | null {
	if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
	const key = event.key.toLowerCase();
	if (key === "z") return event.shiftKey ? "redo" : "undo";
	return key === "y" && !event.shiftKey ? "redo" : null;
}

/** Undo and redo by keyboard. A text field keeps the keys for its own text. */
export function useUndoKeys(onUndo: Step, onRedo: Step): void {
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			const step = stepOf(event);
			const field = event.target instanceof HTMLInputElement ? event.target : null;
			if (!step || (field?.type === "text" && field.value !== "")) return;
			event.preventDefault();
			(step === "undo" ? onUndo : onRedo)?.();
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, [onUndo, onRedo]);
}
