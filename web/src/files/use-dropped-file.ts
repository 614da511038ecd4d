import { useEffect } from "react";

/** A file may be dropped anywhere: one that misses its place must not take the page's. */
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
