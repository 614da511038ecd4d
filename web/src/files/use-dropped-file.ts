import { useEffect } from "react";

/** Accepts a file dropped anywhere, so that one dropped outside the target does not replace the page. */
export function useDroppedFile(onFile: (file: File) => void): void {
	useEffect(() => {
		const stay = (event: DragEvent) => {
			if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
		};
		const take = (event: DragEvent) => {
			stay(event);
			const file = event.dataTransfer?.files[0];
			if (file) onFile(file);
		};
		addEventListener("dragover", stay);
		addEventListener("drop", take);
		return () => {
			removeEventListener("dragover", stay);
			removeEventListener("drop", take);
		};
	}, [onFile]);
}
