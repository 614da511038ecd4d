import { useEffect } from "react";

/** Accepts files dropped anywhere, so that one dropped outside the target does not replace the page. */
export function useDroppedFile(onFiles: (files: readonly File[]) => void): void {
	useEffect(() => {
		const stay = (event: DragEvent) => {
			if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
		};
		const take = (event: DragEvent) => {
			stay(event);
			const files = [...(event.dataTransfer?.files ?? [])];
			if (files.length > 0) onFiles(files);
		};
		addEventListener("dragover", stay);
		addEventListener("drop", take);
		return () => {
			removeEventListener("dragover", stay);
			removeEventListener("drop", take);
		};
	}, [onFiles]);
}
