"""mnist.py: what benchmarks on MNIST share: the program, the images, a folder for networks."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMI = os.environ.get("NAMI", ROOT + "/build/nami")
IMAGES = subprocess.run([ROOT + "/scripts/mnist.sh"], check=True, capture_output=True, text=True).stdout.split()[-1]
TRAIN, TEST = IMAGES + "/train-images-idx3-ubyte", IMAGES + "/t10k-images-idx3-ubyte"


def folder(name):
    path = ROOT + "/build/" + name
    os.makedirs(path, exist_ok=True)
    return path
